package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"plantstore/internal/config"
)

// tokenCommand returns the command for a token that this server accepts, for a shell in the same
// directory, or, of a service, for a shell of root. It refers to the secret and does not contain it.
func tokenCommand(p *Process, c *config.Config) string {
	words := append(program(p), "token")
	if !c.HasSecret() {
		words = append(words, "--key", "PRIVATE_KEY.pem") // unknown here
	}
	for _, o := range p.options() {
		if slices.Contains(storageOptions(p), o.Env) && c.Storage.Path == "" {
			continue // it has no generated secret, and may contain a password
		}
		text, given := c.Given(o.Env)
		if o.Env == "JWT_JWKS_URL" {
			text, _, _ = strings.Cut(text, "?") // may contain a secret, and token does not fetch it
		}
		if given && o.Flag != "" && slices.Contains(tokenCommandOptions(p), o.Env) {
			words = append(words, flagWords(o.Flag, text)...)
		}
	}
	assignment := ""
	if _, given := c.Given("JWT_SECRET"); given && runtime.GOOS != "windows" { // whose shells have no common form
		assignment = `JWT_SECRET="${JWT_SECRET:?}" `
	}
	return asService(p.environ(), assignment) + commandLine(runtime.GOOS, words...)
}

// storeCommand returns a command for the database of this server.
func storeCommand(p *Process, c *config.Config, names ...string) string {
	words := append(program(p), names...)
	if _, given := c.Given("STORAGE_URL"); given {
		words = append(words, flagWords("storage-url", c.Storage.URL)...)
	}
	return asService(p.environ(), "") + commandLine(runtime.GOOS, words...)
}

// flagWords returns a flag with its value. PowerShell drops an empty word.
func flagWords(flag, value string) []string {
	if value == "" {
		return []string{"--" + flag + "="}
	}
	return []string{"--" + flag, value}
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
