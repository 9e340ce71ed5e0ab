package config_test

import (
	"fmt"
	"strings"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
)

func TestGeneratedDotenvExample(t *testing.T) {
	t.Parallel()
	must.Generate(t, "../../.env.example", dotenvExample())
}

// TestGeneratedServiceEnvironment checks the configuration of the packages.
func TestGeneratedServiceEnvironment(t *testing.T) {
	t.Parallel()
	_, options, _ := strings.Cut(dotenvExample(), "\n\n")
	options = strings.Replace(options, "#STORAGE_URL=bbolt:data/plants.db", "STORAGE_URL=bbolt:/var/lib/plantstore/plants.db", 1)
	must.Generate(t, "../../docs/deploy/linux/plantstore.env", "# The options of the service plantstore, and of commands that run in this directory. Remove the #\n"+
		"# before options that differ from the default, and restart the service. Put values with $, # or spaces\n"+
		"# in single quotes. To set other variables, such as SSL_CERT_FILE, run systemctl edit plantstore.\n\n"+options)
}

func TestGeneratedDocument(t *testing.T) {
	t.Parallel()
	must.Generate(t, "../../docs/configuration.md", configurationDocument())
}

// dotenvExample returns the contents of .env.example: all options with their help and
// default.
func dotenvExample() string {
	var b strings.Builder
	b.WriteString("# The options of plantstore. Copy this file to .env in the working directory of the\n" +
		"# server, and uncomment the options that you want to change. Flags and the environment\n" +
		"# take precedence. Put values with $, # or spaces in single quotes.\n")
	for _, o := range config.Options() {
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", strings.ReplaceAll(o.Help, "`", ""), o.Env, o.Default)
	}
	return b.String()
}

// configurationDocument returns the contents of docs/configuration.md: a table of options for
// each group.
func configurationDocument() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"```sh\nplantstore config | grep ADDR               # what's in effect\nplantstore serve --addr 127.0.0.1:9000      # set an option by flag,\n" +
		"ADDR=127.0.0.1:9000 plantstore serve        # in the environment,\necho ADDR=127.0.0.1:9000 >>.env             # or in a file\n```\n\n" +
		"Flags take precedence over the environment, and the environment over the file `.env` in the working directory. A flag has the name\n" +
		"of its option: `--addr` is `ADDR`. In the environment and the file, an empty value is the same as none.\n\n" +
		"Switches take `on` or `off`, `true` or `false`, `yes` or `no`, and `1` or `0`. The server won't start with a wrong value, or with a\n" +
		"misspelled `JWT_` option in `.env`. It warns about other misspelled options in `.env`, and about `JWT_` options in the environment,\n" +
		"which it shares with other programs. It ignores all other unknown names. Commands check only the options that they use.\n" +
		"[.env.example](../.env.example) is a template.\n")
	group := ""
	for _, o := range config.Options() {
		if o.Group != group {
			group = o.Group
			fmt.Fprintf(&b, "\n## %s\n\n| Option | Default | Meaning |\n|---|---|---|\n", group)
		}
		help, value := o.Help, o.Default
		if o.Flag == "" {
			help += " (no flag)"
		}
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Env, value, help)
	}
	return b.String()
}
