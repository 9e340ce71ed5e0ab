package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

func newServe(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run the server until SIGTERM or SIGINT",
		Description: "On SIGTERM or SIGINT, drains requests and exits. A second signal exits at once, or, during\n" +
			"SHUTDOWN_DELAY, ends only the delay. Set JWT_SECRET and PORT in the environment: they have no flag.\n" +
			"Examples:\n" +
			"  plantstore serve\n" +
			"  plantstore serve --ephemeral --seed docs/samples/plants.jsonl",
		Flags: append([]cli.Flag{ // the first two are for demonstrations and concern no other command
			&cli.BoolFlag{Name: "ephemeral", Usage: "keep the plants in a temporary directory, and remove it at exit", HideDefault: true},
			&cli.StringFlag{Name: "seed", Usage: "import `FILE` (JSON Lines, a JSON array or CSV) before serving; taken ids are skipped"},
		}, optionFlags(p)...),
		Action: func(ctx context.Context, cmd *cli.Command) error { return serve(ctx, p, cmd) },
	}
}

func serve(ctx context.Context, p *Process, cmd *cli.Command) (err error) {
	c, misspelled, err := loadConfig(p, cmd, "")
	if err == nil {
		err = misuseBy(errors.Join(c.CheckServe(), c.CheckFaults(cmd.Bool("ephemeral"))))
	}
	var temporary storage.Location
	if err == nil {
		temporary, err = ephemeral(p, cmd)
	}
	if temporary.Path != "" {
		dir := filepath.Dir(temporary.Path)
		defer removeAtSignal(dir, c.ShutdownDelay)()
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	var server *app.App
	if err == nil {
		server, err = openServer(ctx, p, cmd, c, temporary)
	}
	if err != nil {
		printMisspelled(p, misspelled) // there is no log
		return err
	}
	for _, m := range misspelled {
		server.Notice(slog.LevelWarn, "misspelled option", "name", m.name, "source", m.source, "hint", "did you mean "+m.option+"?")
	}
	return errors.Join(server.Run(ctx), server.Close())
}

// removeAtSignal removes dir at a second signal, which ends the process, but within the delay after the first one
// only that. The caller must call stop.
func removeAtSignal(dir string, delay time.Duration) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		first := time.Now()
		last := <-signals
		if time.Since(first) < delay { // that one has only ended the delay
			last = <-signals
		}
		if number, ok := last.(syscall.Signal); ok { // else the channel is closed
			_ = os.RemoveAll(dir) // best effort
			os.Exit(128 + int(number))
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}

// openServer returns the server with its seed.
func openServer(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, temporary storage.Location) (*app.App, error) {
	server, err := app.Open(ctx, c, app.Inputs{
		Environ: p.environ(), Stderr: p.Stderr,
		TokenCommand: tokenCommand(p, c), Ephemeral: temporary,
		Command: func(words ...string) string { return commandFor(p, c, storageOptions(), "", words...) },
	})
	if err != nil {
		return nil, err
	}
	if err := seed(ctx, p, cmd, c, server); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return server, nil
}

// ephemeral creates the temporary directory of --ephemeral, if it is given, and returns the database
// in it.
func ephemeral(p *Process, cmd *cli.Command) (storage.Location, error) {
	if !cmd.Bool("ephemeral") {
		return storage.Location{}, nil
	}
	for _, o := range p.options() {
		if slices.Contains(storageOptions(), o.Env) && cmd.IsSet(o.Flag) {
			return storage.Location{}, misuseOf(cmd, "--ephemeral and --%s are both set; set only one of them", o.Flag)
		}
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return storage.Location{}, fmt.Errorf("--ephemeral: %w; set TMPDIR to another directory", err)
	}
	return storage.ParseURL(storage.DefaultScheme + ":" + filepath.Join(dir, "plants.db"))
}

func seed(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, server *app.App) error {
	file := cmd.String("seed")
	if !cmd.IsSet("seed") {
		return nil
	}
	if file == "" {
		return misuseOf(cmd, "--seed needs the name of a file")
	}
	i := &importer{p: p, cmd: cmd, maxBytes: c.MaxBodyBytes, Importer: plantio.Importer{SkipConflicts: true, Create: server.Store().CreateAll}}
	if err := i.importFile(ctx, file); err != nil {
		return fmt.Errorf("--seed: %w", err)
	}
	if i.Summary.Bad > 0 {
		return findings("--seed: %s has %s: fix the file and start again", file, counted(i.Summary.Bad, "bad line", "bad lines"))
	}
	server.Notice(slog.LevelInfo, "seeded", "file", file, "created", i.Summary.Created, "identical", i.Summary.Identical, "skipped", i.Summary.Skipped)
	return nil
}

// tokenCommand returns the command for a token that this server accepts. It refers to the secret and does not contain it.
func tokenCommand(p *Process, c *config.Config) string {
	words, assignment := []string{"token"}, ""
	if !c.HasSecret() {
		words = append(words, "--key", "PRIVATE_KEY.pem") // unknown here
	}
	if _, given := c.Given("JWT_SECRET"); given && runtime.GOOS != "windows" { // whose shells have no common form
		assignment = `JWT_SECRET="${JWT_SECRET:?}" `
	}
	options := tokenCommandOptions()
	if c.Storage.Path == "" { // it has no generated secret, and its URL may contain a password
		options = slices.DeleteFunc(options, func(env string) bool { return slices.Contains(storageOptions(), env) })
	}
	return commandFor(p, c, options, assignment, words...)
}

// commandFor returns a command with the values of these options that this server was given, for a shell in the
// same directory, or, of a service, for a shell of root.
func commandFor(p *Process, c *config.Config, options []string, assignment string, words ...string) string {
	words = append(program(p), words...)
	for _, o := range p.options() {
		text, given := c.Given(o.Env)
		if !given || o.Flag == "" || !slices.Contains(options, o.Env) {
			continue
		}
		if o.Env == "JWT_JWKS_URL" {
			text, _, _ = strings.Cut(text, "?") // may contain a secret, and token does not fetch it
		}
		if text == "" { // PowerShell drops an empty word
			words = append(words, "--"+o.Flag+"=")
		} else {
			words = append(words, "--"+o.Flag, text)
		}
	}
	return asService(p.environ(), assignment) + commandLine(runtime.GOOS, words...)
}

// asService returns the beginning of a command with that assignment. For a system service of systemd,
// it lets root run the command in the directory and as the user of the service.
func asService(environ map[string]string, assignment string) string {
	dir, err := os.Getwd()
	if environ["NOTIFY_SOCKET"] == "" || environ["XDG_RUNTIME_DIR"] != "" || err != nil {
		return assignment
	}
	command := "cd " + quotePOSIX(dir) + " && " + assignment
	if name := environ["USER"]; name != "" && name != "root" {
		command += "runuser -u " + quotePOSIX(name) + " -- "
	}
	return command
}

// program returns the words that run this program again. go run keeps the program that it has built in
// a temporary directory or its cache.
func program(p *Process) []string {
	switch {
	case !byGoRun.MatchString(filepath.ToSlash(p.Args[0])):
		return []string{p.Args[0]}
	case p.Name == "plantstore-cluster":
		return []string{"go", "-C", "cluster", "run", "."}
	}
	return []string{"go", "run", "."}
}

var byGoRun = regexp.MustCompile(`/go-build\d+/|/[0-9a-f]{64}-d/`)

// commandLine quotes words for a POSIX shell, or on Windows for both cmd and PowerShell. These have no
// common form of a quoted program, so that PowerShell is the program then.
func commandLine(goos string, words ...string) string {
	quote := quotePOSIX
	if goos == "windows" {
		quote = quoteWindows
		if quote(words[0]) != words[0] {
			for i, word := range words {
				words[i] = "'" + strings.ReplaceAll(word, "'", "''") + "'"
			}
			return `powershell -Command "& ` + strings.Join(words, " ") + `"`
		}
	}
	for i, word := range words {
		words[i] = quote(word)
	}
	return strings.Join(words, " ")
}

func quotePOSIX(word string) string {
	if word != "" && config.IsPlain(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoteWindows escapes $ and ` for PowerShell, which is the usual shell. In both shells a comma separates
// words.
func quoteWindows(word string) string {
	if config.IsPlain(strings.NewReplacer(`\`, "", "=", "").Replace(word)) && !strings.ContainsAny(word, ",@") {
		return word
	}
	return `"` + strings.NewReplacer(`"`, `\"`, "`", "``", "$", "`$").Replace(word) + `"`
}
