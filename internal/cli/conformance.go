package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/conformance"
	"plantstore/internal/files"
	"plantstore/internal/keys"
	"plantstore/internal/logging"
	"plantstore/internal/ratelimit"
)

func newConformance(p *Process) *cli.Command {
	o := new(conformance.Options)
	return &cli.Command{
		Name:  "conformance",
		Usage: "check any plant store server against the contract",
		Description: "Sends hundreds of valid and invalid requests, and prints the causes of all failures, first the one that\n" +
			"explains most. Level application is what a handler decides. Level wire adds what most HTTP libraries\n" +
			"decide before a handler runs, such as malformed HTTP and limits of headers.\n" +
			"The plants that it creates stay in the store. Pass the token in the environment (TOKEN) or in a\n" +
			"file, because other users can read flags.\n" +
			"Exit codes: 0 conforms, 1 deviates or failed, 2 misused.\n" +
			"Examples:\n" +
			"  TOKEN=$(plantstore token) plantstore conformance --url http://127.0.0.1:8080\n" +
			"  plantstore conformance --list",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "print all requests and expected responses, and send nothing", HideDefault: true},
			&cli.StringFlag{Name: "url", Destination: &o.URL, Usage: "base `URL` of the server"},
			&cli.StringFlag{Name: "unix-socket", Destination: &o.Socket, Usage: "`PATH` of a Unix socket to connect to, instead of the host of the URL"},
			&cli.DurationFlag{Name: "wait", Destination: &o.Wait, Usage: "wait up to this `TIME` for a server that is starting, such as 30s", HideDefault: true},
			&cli.StringFlag{Name: "ca-file", Usage: "`FILE` with the trusted authorities for https (PEM), instead of the system's"},
			&cli.StringFlag{Name: "token", Usage: "access `TOKEN`, instead of TOKEN; other users can read it"},
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token, instead of TOKEN"},
			&cli.StringFlag{Name: "secret-file", Usage: "`FILE` with the server's HS256 secret, for cases with special tokens"},
			&cli.StringFlag{Name: "key", Usage: "`FILE` with a private key that the server accepts (PEM), instead of --secret-file"},
			&cli.StringFlag{Name: "alg", Usage: "`ALGORITHM` of --key, as for plantstore token"},
			&cli.StringFlag{Name: "kid", Usage: "`NAME` of the key, kid, if the server requires one"},
			&cli.StringFlag{Name: "origin", Destination: &o.Origin, Usage: "`ORIGIN` that the server allows for CORS, or * if it allows all"},
			&cli.StringSliceFlag{Name: "rule", Usage: "run or list only the cases of `RULE`, such as C2.12"},
			choiceFlag("level", "`level` of the cases: application or wire", "application", "application", "wire"),
			&cli.BoolFlag{Name: "fail-fast", Destination: &o.FailFast, Usage: "stop at the first deviation", HideDefault: true},
			&cli.BoolFlag{Name: "verbose", Usage: "print every rule, every failed case, and why cases were not run", HideDefault: true},
			&cli.BoolFlag{Name: "fresh", Destination: &o.FreshStore, Usage: "expect an empty store, in which common ids are free", HideDefault: true},
			&cli.BoolFlag{Name: "slow", Destination: &o.Slow, Usage: "include cases that wait for timeouts, which takes --request-timeout", HideDefault: true},
			&cli.IntFlag{Name: "max-body-bytes", Config: decimal(), Destination: &o.MaxBodyBytes, Usage: "maximum body size of the server in `BYTES`", Value: 1 << 20},
			&cli.DurationFlag{Name: "request-timeout", Destination: &o.RequestTimeout, Usage: "`TIME` limit of the server for a request", DefaultText: "30s"},
			&cli.BoolFlag{Name: "require-exp", Destination: &o.RequireExp, Usage: "expect the server to refuse tokens without exp (JWT_REQUIRE_EXP)", HideDefault: true},
			&cli.StringFlag{Name: "rate-limit", Usage: "`RATE` limit of the server, such as 100/s: stay below it, except to check it"},
			choiceFlag("format", "`FORMAT` of the report: text, json or junit", "text", "text", "json", "junit"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error { return runConformance(ctx, p, cmd, o) },
	}
}

func runConformance(ctx context.Context, p *Process, cmd *cli.Command, o *conformance.Options) (err error) {
	for _, rule := range cmd.StringSlice("rule") {
		if number, ok := strings.CutPrefix(rule, "c"); ok {
			rule = "C" + number
		}
		o.Rules = append(o.Rules, rule)
	}
	if cmd.Bool("list") {
		if err := conformance.WriteList(p.Stdout, o.Rules); err != nil {
			return misuseOf(cmd, "%v", err)
		}
		return nil
	}
	format := chosen(cmd, "format")
	if cmd.Bool("verbose") && format == "text" {
		format = "verbose"
	}
	write := map[string]func(conformance.Report, io.Writer) error{
		"text":    conformance.Report.WriteText,
		"verbose": conformance.Report.WriteVerbose,
		"json":    conformance.Report.WriteJSON,
		"junit":   conformance.Report.WriteJUnit,
	}[format]
	if o.Token, err = tokenFor(p, cmd); err != nil {
		return err
	}
	if limit := cmd.String("rate-limit"); limit != "" {
		if o.RateLimit, err = ratelimit.Parse(limit); err != nil {
			return misuseOf(cmd, "--rate-limit: %q: %v", limit, err)
		}
	}
	if err := o.Validate(); err != nil {
		return misuseOf(cmd, "%v", err)
	}
	if err := addSigner(cmd, o); err != nil {
		return err
	}
	if file := cmd.String("ca-file"); file != "" {
		if o.TLS, err = trusting(file); err != nil {
			return err
		}
	}
	o.Wire = chosen(cmd, "level") == "wire"
	bar := newProgress(p, cmd, 1, progressbar.OptionSetPredictTime(false)) // its end is set later
	o.Progress = func(cases int) {
		bar.ChangeMax(cases)
		_ = bar.Add(1) // it is only shown
	}
	report, err := conformance.Run(ctx, *o)
	_ = bar.Finish() // it is only shown
	if err != nil && len(report.Results) == 0 {
		return err
	}
	out := p.Stdout
	if logging.IsTerminal(out) && p.environ()["NO_COLOR"] == "" {
		out = redFailures{out}
	}
	if err := errors.Join(write(report, out), err); err != nil {
		return err
	}
	if n := report.RateLimited(); n > 0 {
		return fmt.Errorf("the rate limit of %s stopped %s: set --rate-limit", report.Target, counted(int64(n), "case", "cases"))
	}
	if n := report.Deviations(); n > 0 {
		return fmt.Errorf("%s deviates from the contract in %s", report.Target, counted(int64(n), "case", "cases"))
	}
	return nil
}

// A redFailures is a terminal that shows the FAIL at the start of a write in red.
type redFailures struct{ io.Writer }

func (w redFailures) Write(b []byte) (int, error) {
	rest, failure := bytes.CutPrefix(b, []byte("FAIL"))
	if failure {
		if _, err := io.WriteString(logging.Underlying(w.Writer), "\x1b[31mFAIL\x1b[0m"); err != nil {
			return 0, err
		}
	}
	n, err := w.Writer.Write(rest)
	return n + len(b) - len(rest), err
}

// tokenFor returns the token for the server from a flag, a file or the environment; empty:
// none.
func tokenFor(p *Process, cmd *cli.Command) (string, error) {
	text, file := cmd.String("token"), cmd.String("token-file")
	switch {
	case text != "" && file != "":
		return "", misuseOf(cmd, "--token and --token-file are both set; set only one of them")
	case file == "":
		return cmp.Or(text, p.environ()["TOKEN"]), nil
	}
	contents, err := files.ReadSecret(file)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", app.AdviseRead(err, "create it with: (umask 077; plantstore token >FILE)"))
	}
	return strings.TrimSpace(string(contents)), nil
}

// addSigner sets the secret or key that signs special tokens, if it is given.
func addSigner(cmd *cli.Command, options *conformance.Options) error {
	secretFile, keyFile := cmd.String("secret-file"), cmd.String("key")
	switch {
	case secretFile != "" && keyFile != "":
		return misuseOf(cmd, "--secret-file and --key are both set; set only one of them")
	case secretFile != "":
		secrets, err := keys.ReadSecrets(secretFile, files.ReadSecret)
		if err != nil {
			return fmt.Errorf("--secret-file: %w", app.AdviseRead(err, "name the file with the secret of the server, jwt-secret next to its database if it was generated"))
		}
		options.Secret = secrets[0]
	case keyFile != "":
		key, err := readKey(cmd)
		if err != nil {
			return err
		}
		key.SetKid(cmd.String("kid"))
		options.Key = key
	}
	return nil
}

// trusting returns a TLS configuration that trusts the authorities in a file.
func trusting(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", files.WithoutSecret(file, err))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca-file: %s contains no PEM certificate", file)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}
