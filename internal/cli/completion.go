package cli

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// bashCompletion is the script for bash. Unlike the library's, it needs no package
// bash-completion.
//
//go:embed completion.bash
var bashCompletion string

// configureCompletion shows the library's completion command in the help.
func configureCompletion(p *Process, cmd *cli.Command) {
	cmd.Hidden = false
	cmd.Usage = "print a completion script for bash, zsh, fish or pwsh"
	cmd.Description = "Examples:\n  source <(plantstore completion bash)"
	cmd.Command("bash").Action = func(context.Context, *cli.Command) error {
		_, err := io.WriteString(p.Stdout, bashCompletion)
		return err
	}
	cmd.Commands = append(cmd.Commands, newHelp(p, true))
	prepare(p, cmd)
}

// complete prints the words that may come next, one a line, with a colon and their usage. The
// scripts call the program for it, with the words before the cursor, the current one if it is a
// flag, and a marker.
func complete(p *Process, cmd *cli.Command) {
	last := p.Args[max(len(p.Args)-2, 0)] // before the marker
	if name, found := strings.CutPrefix(last, "-"); found {
		name = strings.TrimPrefix(name, "-")
		for _, value := range valuesOf(cmd, name) {
			fmt.Fprintln(p.Stdout, value)
		}
		for _, flag := range cmd.Flags {
			if full := flag.Names()[0]; full != name && strings.HasPrefix(full, name) {
				fmt.Fprintf(p.Stdout, "--%s:%s\n", full, usageOf(flag))
			}
		}
		return
	}
	for _, below := range cmd.Commands {
		if !below.Hidden {
			fmt.Fprintf(p.Stdout, "%s:%s\n", below.Name, below.Usage)
		}
	}
}

// usageOf returns the usage of a flag without the back quotes around the name of its value.
func usageOf(flag cli.Flag) string {
	if described, ok := flag.(cli.DocGenerationFlag); ok {
		return strings.ReplaceAll(described.GetUsage(), "`", "")
	}
	return ""
}

// valuesOf returns the values of a flag of cmd that has only a few.
func valuesOf(cmd *cli.Command, name string) []string {
	for _, o := range config.Options() {
		if o.Flag == name && name != "" {
			return o.Values
		}
	}
	for _, flag := range cmd.Flags {
		if flag, ok := flag.(*choice); ok && flag.Name == name {
			return flag.values
		}
	}
	return nil
}
