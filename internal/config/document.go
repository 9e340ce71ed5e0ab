package config

import (
	"fmt"
	"strings"
)

// DotenvExample returns the contents of .env.example: all options with their help and
// default.
func DotenvExample() string {
	var b strings.Builder
	b.WriteString("# The options of plantstore. Copy this file to .env in the working directory of the\n" +
		"# server, and remove the # before options that differ from the default. Flags override\n" +
		"# the environment, which overrides .env. Put values with $, # or spaces in single\n" +
		"# quotes.\n")
	for _, o := range Options() {
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", strings.ReplaceAll(o.Help, "`", ""), o.Env, o.Default)
	}
	return b.String()
}

// MarkdownTable returns the options as a table for the README.
func MarkdownTable() string {
	var b strings.Builder
	b.WriteString("| Environment | Flag | Default | Meaning |\n|---|---|---|---|\n")
	for _, o := range Options() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Env, code("--", o.Flag), code("", o.Default), o.Help)
	}
	return b.String()
}

func code(prefix, text string) string {
	if text == "" {
		return ""
	}
	return "`" + prefix + text + "`"
}
