package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/printable"
)

// A progress shows how far a command is, on stderr if that is a terminal. On a nil
// progress the methods do nothing.
type progress struct {
	bar *progressbar.ProgressBar
}

// newProgress returns the progress of a command that has size bytes to do, or an
// unknown number of plants if size is negative.
func newProgress(p *Process, cmd *cli.Command, size int64) *progress {
	if cmd.Bool("quiet") || !printable.IsTerminal(p.Stderr) {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(printable.Underlying(p.Stderr)), // it moves the cursor
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
	}
	if size >= 0 {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString("plants"))
	}
	return &progress{progressbar.NewOptions64(size, options...)}
}

// set says how many plants are done.
func (p *progress) set(plants int64) {
	if p != nil {
		_ = p.bar.Set64(plants) // a progress that cannot be shown is no loss
	}
}

// describe says how many plants are done, beside the bytes.
func (p *progress) describe(plants int64) {
	if p != nil {
		p.bar.Describe(counted(plants, "plant", "plants"))
	}
}

// reader returns in, of which what is read is progress.
func (p *progress) reader(in io.Reader) io.Reader {
	if p == nil {
		return in
	}
	return &progressReader{in, p}
}

// A progressReader is a reader whose progress is shown.
type progressReader struct {
	io.Reader

	progress *progress
}

// Read implements [io.Reader].
func (r *progressReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	_ = r.progress.bar.Add(n) // a file may be longer than it was
	return n, err
}

// close takes the progress off the terminal.
func (p *progress) close() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
