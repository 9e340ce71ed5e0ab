package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/apidocs"
	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/keys"
	"plantstore/internal/operate"
	"plantstore/middleware/auth"
)

// tokenCommandOptions returns the options that decide which tokens a server accepts.
func tokenCommandOptions() []string {
	return append(storageOptions(),
		"JWT_SECRET_FILE", "JWT_PUBLIC_KEYS", "JWT_JWKS_URL", "JWT_ISSUER", "JWT_AUDIENCE", "JWT_SCOPE")
}

func newToken(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "print an access token",
		Description: "Signs with the secret of the server (HS256), or with the private key of --key.\n" +
			"Examples:\n" +
			"  TOKEN=$(plantstore token)\n" +
			"  plantstore token --link\n" +
			"  plantstore token --key private.pem --ttl 1h\n" +
			"  plantstore token --ttl=-1h    # expired, for tests",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "subject", Usage: "`SUBJECT` of the token (sub)", Value: keys.DefaultSubject, DefaultText: keys.DefaultSubject},
			&cli.DurationFlag{Name: "ttl", Usage: "`LIFETIME` of the token; 0: no expiry, negative: expired", Value: 24 * time.Hour, DefaultText: "24h, with --link 1h"},
			&cli.BoolFlag{Name: "link", Usage: "print a link to the docs page with the token filled in", HideDefault: true},
			&cli.StringFlag{Name: "key", Usage: "`FILE` with the private key to sign with (PEM, not encrypted), instead of a secret"},
			&cli.StringFlag{Name: "alg", Usage: "`ALGORITHM` of --key (default: RS256, ES256, ES384, ES512 or EdDSA, depending on the key)"},
			&cli.StringFlag{Name: "kid", Usage: "`NAME` of the key, kid (default: from JWT_PUBLIC_KEYS, else none)"},
		}, optionFlags(p, append([]string{"BASE_URL"}, tokenCommandOptions()...)...)...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			others := []string{"JWT_"}
			if cmd.Bool("link") {
				others = append(others, "ADDR", "PORT", "DOCS", "TLS_", "ACME_")
			}
			return configured(p, printToken, others...)(ctx, cmd)
		},
	}
}

func printToken(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	base, err := linkBase(ctx, cmd, c)
	if err != nil {
		return err
	}
	ttl := cmd.Duration("ttl")
	if cmd.Bool("link") && !cmd.IsSet("ttl") {
		ttl = keys.LinkLifetime
	}
	if ttl == 0 && c.JWTRequireExp {
		fmt.Fprintln(p.Stderr, p.Name+": the token never expires, so a server with JWT_REQUIRE_EXP=on refuses it; set --ttl")
	}
	signer, err := signerOf(ctx, p, cmd, c)
	if err != nil {
		return err
	}
	token, err := signer.Issue(keys.GrantFor(c.Tokens(), cmd.String("subject"), ttl), time.Now())
	if err != nil {
		return err
	}
	if base == "" {
		_, err = fmt.Fprintln(p.Stdout, token)
		return err
	}
	return printLink(p, apidocs.TokenLink(base, token))
}

// linkBase returns the base URL for --link: of the server that runs on the database, or else
// of the configuration. It fails if the configuration does not determine it. Without --link it
// is empty.
func linkBase(ctx context.Context, cmd *cli.Command, c *config.Config) (string, error) {
	switch {
	case !cmd.Bool("link") && cmd.IsSet("base-url"):
		return "", misuseOf(cmd, "--base-url requires --link")
	case !cmd.Bool("link"):
		return "", nil
	case !c.Docs:
		return "", misuse("--link: DOCS is off: a server with the same configuration has no docs page")
	case c.BaseURL != "":
		return c.ServiceURL(c.Addr), nil
	}
	client, err := app.Connect(ctx, c.Storage.Path)
	if err == nil {
		defer func() { _ = client.Close() }() // it has responded
		if base := client.Info().BaseURL; strings.HasPrefix(base, "http") {
			return base, nil
		}
	} else if !errors.Is(err, operate.ErrNoServer) {
		return "", err
	}
	_, port, _ := net.SplitHostPort(c.Addr)
	if _, socket := config.UnixPath(c.Addr); socket || port == "0" {
		return "", misuse("--link: ADDR is %s, from which no link follows: give the URL of the service with --base-url", c.Addr)
	}
	return c.ServiceURL(c.Addr), nil
}

// signerOf returns the private key of --key, or else the secret, which it may generate.
func signerOf(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) (*keys.Signer, error) {
	if cmd.String("key") != "" {
		return privateKey(p, cmd, c)
	}
	if cmd.IsSet("alg") || cmd.IsSet("kid") {
		return nil, misuseOf(cmd, "--alg and --kid require --key")
	}
	if !c.HasSecret() {
		return nil, errors.New("there is no secret to sign with: this server accepts only tokens signed with a private key (JWT_PUBLIC_KEYS, " +
			"JWT_JWKS_URL): run plantstore token --key FILE, or get a token from the issuer")
	}
	if err := checkServerSecret(ctx, c); err != nil {
		return nil, err
	}
	secrets, generated, err := app.Secrets(c, true)
	if err != nil {
		return nil, err
	}
	if generated {
		if err := printGenerated(p, c.Storage.Path); err != nil {
			return nil, err
		}
	}
	return keys.HS256(secrets[0]), nil
}

// checkServerSecret returns an error if a secret would be generated while a server runs on
// the database: the server has other keys, or its file was lost.
func checkServerSecret(ctx context.Context, c *config.Config) error {
	if !c.GeneratesSecret() {
		return nil
	}
	if _, err := os.Stat(app.SecretPath(c.Storage.Path)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	client, err := app.Connect(ctx, c.Storage.Path)
	if errors.Is(err, operate.ErrNoServer) {
		return nil
	} else if err != nil {
		return err
	}
	_ = client.Close() // it has responded
	return fmt.Errorf("the server that runs on %s has no secret next to it, so none was generated: "+
		"if the server accepts only tokens signed with a private key, run plantstore token --key FILE; "+
		"else set JWT_SECRET or JWT_SECRET_FILE as for the server, or restore the secret file if it was removed while the server runs", c.Storage.Path)
}

// privateKey returns the key of --key with its kid in JWT_PUBLIC_KEYS. It prints a warning if
// it is not among them.
func privateKey(p *Process, cmd *cli.Command, c *config.Config) (*keys.Signer, error) {
	key, err := readKey(cmd)
	if err != nil {
		return nil, err
	}
	public, _, err := app.PublicKeys(c)
	if err != nil {
		return nil, err
	}
	kid, known := key.Among(public)
	if !known && c.JWTJWKSURL == "" {
		fmt.Fprintf(p.Stderr, "%s: JWT_PUBLIC_KEYS does not contain the public key of --key for the algorithm %s: a server with the same configuration "+
			"refuses the token\n", p.Name, key.Alg())
	}
	if cmd.IsSet("kid") {
		kid = cmd.String("kid")
	}
	key.SetKid(kid)
	return key, nil
}

func readKey(cmd *cli.Command) (*keys.Signer, error) {
	key, err := keys.ReadPrivateKey(cmd.String("key"), cmd.String("alg"))
	switch {
	case errors.Is(err, auth.ErrAlgorithm):
		return nil, misuseOf(cmd, "--alg: %v", err)
	case err != nil:
		return nil, fmt.Errorf("--key: %w", app.AdviseRead(err, "name the file with the private key, or make one with: openssl genpkey -algorithm ed25519"))
	}
	return key, nil
}

// printGenerated prints that a secret was generated: a running server does not have it, and
// the directory may be wrong.
func printGenerated(p *Process, database string) error {
	what := "a new secret was made in " + app.SecretPath(database)
	if _, err := os.Stat(database); err == nil {
		what += ", next to an existing database: tokens signed with another secret are refused"
	} else if errors.Is(err, fs.ErrNotExist) {
		what = fmt.Sprintf("there is no database %s yet: %s, for a server that is started on it", database, what)
	}
	_, err := fmt.Fprintln(p.Stderr, p.Name+":", what)
	return err
}
