package cli

import (
	"slices"
	"strings"

	"plantstore/internal/config"
)

// tokenCommand returns the exact command for a token that this server accepts,
// for a POSIX shell in the same folder. It does not tell the secret, but where to
// take it from.
func tokenCommand(p *Process, c *config.Config) string {
	var command []string
	if _, given := c.Given("JWT_SECRET"); given {
		command = append(command, `JWT_SECRET="${JWT_SECRET:?}"`)
	}
	command = append(command, shellQuote(p.Args[0]), "token")
	if !c.HasSecret() {
		command = append(command, "--"+flagKey, "PRIVATE_KEY.pem") // wherever that is
	}
	for _, o := range config.Options() {
		if slices.Contains(storageOptions(), o.Env) && c.Storage.Path == "" {
			continue // no secret is kept there, and it may hold a password
		}
		text, given := c.Given(o.Env)
		if o.Env == "JWT_JWKS_URL" {
			text, _, _ = strings.Cut(text, "?") // which may hold a secret, and token fetches nothing
		}
		if given && o.Flag != "" && slices.Contains(tokenOptions(), o.Env) {
			command = append(command, "--"+o.Flag, shellQuote(text))
		}
	}
	return strings.Join(command, " ")
}

// shellQuote quotes an argument for a POSIX shell, if it needs that.
func shellQuote(argument string) string {
	if argument != "" && config.IsPlain(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
