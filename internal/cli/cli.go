// Package cli implements the command line of the program, with a file for each command. A
// command parses its arguments, calls another package, and prints the result. Package app
// composes the server.
package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"plantstore/internal/logging"
)

// Main runs the program and returns its exit code: 0 done, 1 failed, or check found
// corruption, 2 misused, 3 corruption or bad lines.
//
// SIGTERM and SIGINT cancel the context of the command. A second signal ends the process, unless
// the server catches it during SHUTDOWN_DELAY.
func Main(ctx context.Context, p Process) int {
	p.Stderr = logging.NewTerminalWriter(p.Stderr) // escapes terminal control sequences
	if logging.IsTerminal(p.Stdout) {              // in a file or pipe it is exact, since programs read it
		p.Stdout = logging.NewTerminalWriter(p.Stdout)
	}
	if len(p.Args) > 2 && p.Args[1] == "help" { // that of the library does not know commands of commands
		p.Args = slices.Concat(p.Args[:1], p.Args[2:], []string{"--help"})
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // catches no second signal
	out := bufio.NewWriter(p.Stdout)     // for help and completion scripts: it keeps its error, which the library ignores
	err := errors.Join(newRoot(&p, out).Run(ctx, p.Args), out.Flush())
	if err == nil {
		return exitOK
	}
	if errors.As(err, new(cli.ExitCoder)) { // of the library: help on an unknown command, which may be a URL with a password (C4.25)
		err = misuse("there is no such command; see: %s --help", p.Name)
	}
	printError(ctx, &p, err)
	return exitCode(err)
}

func newRoot(p *Process, out io.Writer) *cli.Command {
	root := &cli.Command{
		Name:  p.Name,
		Usage: "a server for the OpenAPI Plant Store",
		Description: "Set options by flag, in the environment (--addr is ADDR), or in the file .env in the working\n" +
			"directory. Flags take precedence, then the environment.\n" +
			"Exit codes: 0 done, 1 failed, or check found corruption, 2 misused, 3 corruption (backup,\n" +
			"restore, plants) or bad lines (import, serve --seed).\n" +
			"Examples:\n" +
			"  plantstore serve\n" +
			"  plantstore token",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version", Local: true, HideDefault: true},
		},
		Commands: []*cli.Command{
			newServe(p), newToken(p), newPlants(p), newRequests(p), newBackup(p), newRestore(p), newCheck(p),
			newConfig(p), newOpenAPI(p), newConformance(p), newHealth(p), newVersion(p),
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.Bool("version") {
				return printVersion(p)
			}
			return cli.ShowRootCommandHelp(cmd)
		},
		ArgValidator:          arguments(0, 0),
		EnableShellCompletion: true,
		Writer:                out,
		ErrWriter:             p.Stderr,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // Main prints errors
	}
	root.ConfigureShellCompletionCommand = func(completion *cli.Command) { // all commands are there now
		completion.Hidden = false
		completion.Usage = "print a completion script for bash, zsh, fish or pwsh"
		completion.Description = "In bash, install the package bash-completion first.\n" +
			"Examples:\n" +
			"  source <(plantstore completion bash)\n" +
			"  plantstore completion fish >~/.config/fish/completions/plantstore.fish"
		_ = root.Walk(func(cmd *cli.Command) error { // the function never fails
			cmd.Description = strings.ReplaceAll(cmd.Description, "plantstore ", p.Name+" ")
			cmd.OnUsageError = p.usageError
			cmd.HideHelpCommand = cmd != root // the library would list it as a subcommand of every command
			return nil
		})
	}
	return root
}

func newPlants(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "plants",
		Usage: "list, count, browse, export, import and reset plants",
		Description: "The commands work with or without a running server. Only reset needs one.\n" +
			"Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants import plants.jsonl",
		Commands: []*cli.Command{newList(p), newGet(p), newCount(p), newBrowse(p), newExport(p), newImport(p), newReset(p)},
	}
}
