package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/auth"
	"plantstore/internal/config"
	"plantstore/internal/durable"
)

// secretName is the file of the generated secret, beside the database.
const secretName = "jwt-secret"

// tokenOptions are the options that say which tokens a server accepts, and so
// those with which token must be called.
func tokenOptions() []string {
	return []string{"STORAGE_URL", "JWT_SECRET_FILE", "JWT_ISSUER", "JWT_AUDIENCE", "JWT_SCOPE"}
}

func newToken(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "print an access token for the server with the same configuration",
		Description: "The token is signed with HS256 and the secret that serve uses. Nothing else is printed:\n" +
			"  TOKEN=$(plantstore token)",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "subject", Usage: "`name` of whom the token is for (sub)", Value: "developer"},
			&cli.DurationFlag{Name: "ttl", Usage: "`time` for which the token is good; 0: for ever", Value: 24 * time.Hour},
		}, optionFlags(tokenOptions()...)...),
		Action: func(_ context.Context, cmd *cli.Command) error {
			return printToken(p, cmd)
		},
	}
}

func printToken(p *Process, cmd *cli.Command) error {
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	ttl := cmd.Duration("ttl")
	if ttl < 0 {
		return misuse("--ttl: %v: must not be negative", ttl)
	}
	secret, made, err := loadSecret(c)
	if err != nil {
		return err
	}
	if made != "" {
		if err := tellOfSecret(p, c.Storage.Path, made); err != nil {
			return err
		}
	}
	token, err := auth.Issue(secret, auth.Grant{
		Subject: cmd.String("subject"), Issuer: c.JWTIssuer, Audience: c.JWTAudience, Scope: c.JWTScope, TTL: ttl,
	}, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, token)
	return err
}

// tellOfSecret says that a secret was made: no server that runs already has it, and
// the folder may be the wrong one.
func tellOfSecret(p *Process, database, made string) error {
	what := "a new secret was made in " + made
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		what = fmt.Sprintf("there is no database %s yet: %s, for a server that is started on it", database, what)
	}
	_, err := fmt.Fprintln(p.Stderr, "plantstore:", what)
	return err
}

// loadSecret returns the secret that is configured, or else the one beside the
// database, which is made when it is first needed: made is its file then.
func loadSecret(c *config.Config) (secret auth.Secret, made string, err error) {
	switch {
	case c.JWTSecret != nil:
		secret, err := auth.ParseSecret(string(c.JWTSecret))
		if err != nil {
			return nil, "", fmt.Errorf("JWT_SECRET: %w", err)
		}
		return secret, "", nil
	case c.JWTSecretFile != "":
		secret, err := auth.ReadSecret(c.JWTSecretFile)
		if err != nil {
			return nil, "", fmt.Errorf("JWT_SECRET_FILE: %w", err)
		}
		return secret, "", nil
	case c.Storage.Path == "":
		return nil, "", errors.New("JWT_SECRET or JWT_SECRET_FILE must be given: with this storage there is no folder to keep a secret in")
	}
	dir := filepath.Dir(c.Storage.Path)
	if err := durable.MkdirAll(dir); err != nil {
		return nil, "", fmt.Errorf("the folder of the database: %w", err)
	}
	path := filepath.Join(dir, secretName)
	secret, isNew, err := auth.EnsureSecret(path)
	if err != nil {
		return nil, "", fmt.Errorf("the secret beside the database: %w", err)
	}
	if isNew {
		made = path
	}
	return secret, made, nil
}
