package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/printable"
)

// A progress shows the progress of a command on stderr. On a nil progress the
// methods are no-ops.
type progress struct {
	bar *progressbar.ProgressBar
}

// newProgress returns the progress of a command that reads size bytes, or an unknown number
// of plants if size is negative. It is nil if stderr is not a terminal.
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

// set shows the number of plants done.
func (p *progress) set(plants int64) {
	if p != nil {
		_ = p.bar.Set64(plants) // best effort
	}
}

// describe shows the number of plants done next to the bytes.
func (p *progress) describe(plants int64) {
	if p != nil {
		p.bar.Describe(counted(plants, "plant", "plants"))
	}
}

// reader returns in. Bytes read from it are shown.
func (p *progress) reader(in io.Reader) io.Reader {
	if p == nil {
		return in
	}
	return &progressReader{in, p}
}

// A progressReader shows the bytes that are read.
type progressReader struct {
	io.Reader

	progress *progress
}

// Read implements [io.Reader].
func (r *progressReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	_ = r.progress.bar.Add(n) // fails if the file has grown
	return n, err
}

// close removes the progress from the terminal.
func (p *progress) close() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
