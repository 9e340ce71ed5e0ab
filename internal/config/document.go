package config

import (
	"fmt"
	"strings"
)

// DotenvExample returns the contents of .env.example: every option, what it is
// for and its default.
func DotenvExample() string {
	var b strings.Builder
	b.WriteString("# The options of plantstore. Copy this file to .env in the folder that the server\n" +
		"# is started in, and take away the # before what shall differ from the default.\n" +
		"# Flags win over the environment, the environment over .env. A value with $, # or\n" +
		"# spaces in it stands in single quotes.\n")
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

// code sets text in a fixed-width font, if there is any.
func code(prefix, text string) string {
	if text == "" {
		return ""
	}
	return "`" + prefix + text + "`"
}
