package cli

import (
	"slices"
	"strings"

	"plantstore/internal/config"
)

// tokenCommand returns the command for a token that this server accepts, for a POSIX shell
// in the same directory. It refers to the secret and does not contain it.
func tokenCommand(p *Process, c *config.Config) string {
	var command []string
	if _, given := c.Given("JWT_SECRET"); given {
		command = append(command, `JWT_SECRET="${JWT_SECRET:?}"`)
	}
	command = append(command, shellQuote(p.Args[0]), "token")
	if !c.HasSecret() {
		command = append(command, "--"+flagKey, "PRIVATE_KEY.pem") // unknown here
	}
	for _, o := range config.Options() {
		if slices.Contains(storageOptions(), o.Env) && c.Storage.Path == "" {
			continue // it has no generated secret, and may contain a password
		}
		text, given := c.Given(o.Env)
		if o.Env == "JWT_JWKS_URL" {
			text, _, _ = strings.Cut(text, "?") // may contain a secret, and token does not fetch it
		}
		if given && o.Flag != "" && slices.Contains(tokenOptions(), o.Env) {
			command = append(command, "--"+o.Flag, shellQuote(text))
		}
	}
	return strings.Join(command, " ")
}

// shellQuote quotes an argument for a POSIX shell, if necessary.
func shellQuote(argument string) string {
	if argument != "" && config.IsPlain(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
