package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/printable"
)

// newProgress returns the progress bar of a command that reads size bytes, or an unknown
// number of plants if size is -1. It is visible if stderr is a terminal, without --quiet.
func newProgress(p *Process, cmd *cli.Command, size int64) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetVisibility(printable.IsTerminal(p.Stderr) && !cmd.Bool("quiet")),
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
	return progressbar.NewOptions64(size, options...)
}
