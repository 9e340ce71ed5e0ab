package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMisuse checks that every mistake on the command line gets a clear line and exit code 2,
// without the help text.
func TestMisuse(t *testing.T) {
	t.Parallel()
	const (
		seeRoot   = "see: plantstore --help"
		seeServe  = "see: plantstore serve --help"
		seeConfig = "see: plantstore config --help"
		seeToken  = "see: plantstore token --help"
		seeBash   = "see: plantstore completion bash --help"
		badAddr   = `ADDR (--addr): "": must be HOST:PORT, such as 127.0.0.1:8080 or :8080, or unix:PATH`
	)
	tests := map[string][]string{
		"srve":                                   {`there is no command "srve"`, seeRoot},
		"tokne --subject":                        {`there is no command "tokne"`, seeRoot},
		"plant":                                  {`there is no command "plant"`, seeRoot},
		"plants lst":                             {`there is no command "lst"`, "see: plantstore plants --help"},
		"help plants lst":                        {`there is no command "lst"`, "see: plantstore plants --help"},
		"plants list x":                          {`plantstore plants list takes no arguments, but got "x"`, "see: plantstore plants list --help"},
		"plants list --limit -1":                 {`--limit: -1: must not be negative`},
		"plants list --format xml":               {`--format: "xml": must be table, jsonl or csv`, "see: plantstore plants list --help"},
		"plants list --after x":                  {`--after: "x": must be an integer of at most 64 bits`, "see: plantstore plants list --help"},
		"plants list --limit 0x10":               {`--limit: "0x10": must be an integer of at most 64 bits`, "see: plantstore plants list --help"},
		"plants list --after 0b1":                {`--after: "0b1": must be an integer of at most 64 bits`, "see: plantstore plants list --help"},
		"plants browse --port 0x10":              {`--port: "0x10": must be from 0 to 65535`, "see: plantstore plants browse --help"},
		"conformance --max-body-bytes 1_0":       {`--max-body-bytes: "1_0": must be an integer of at most 64 bits`, "see: plantstore conformance --help"},
		"plants get":                             {`plantstore plants get takes ID after its flags, but got 0 arguments`, "see: plantstore plants get --help"},
		"plants get 1 2":                         {`plantstore plants get takes ID after its flags, but got 2 arguments`, "see: plantstore plants get --help"},
		"plants get 9223372036854775808":         {`"9223372036854775808" is not an id: must be an integer of 64 bits`, "see: plantstore plants get --help"},
		"plants export a b":                      {`plantstore plants export takes [FILE] after its flags, but got 2 arguments`, "see: plantstore plants export --help"},
		"plants export --format table":           {`--format: "table": must be jsonl or csv`, "see: plantstore plants export --help"},
		"backup":                                 {`plantstore backup takes FILE after its flags, but got 0 arguments`, "see: plantstore backup --help"},
		"backup -":                               {`a backup needs a file, since it is verified before it appears*`, "see: plantstore backup --help"},
		"serve --tls-cert c":                     {`there is no flag --tls-cert`, seeServe},
		"restore a b":                            {`plantstore restore takes FILE after its flags, but got 2 arguments`, "see: plantstore restore --help"},
		"compact x":                              {`plantstore compact takes no arguments, but got "x"`, "see: plantstore compact --help"},
		"plants import":                          {`plantstore plants import takes FILE... after its flags, but got 0 arguments`, "see: plantstore plants import --help"},
		"plants import --on-conflict x -":        {`--on-conflict: "x": must be error or skip`, "see: plantstore plants import --help"},
		"plants import --format x -":             {`--format: "x": must be jsonl or csv`, "see: plantstore plants import --help"},
		"plants help lst":                        {`there is no command "lst"`, "see: plantstore plants --help"},
		"plants help options":                    {`there is no command "options"`, "see: plantstore plants --help"},
		"help srve":                              {`there is no command "srve"`, seeRoot},
		"help --x":                               {`there is no flag --x`, "see: plantstore help --help"},
		"--help nosuch":                          {`No help topic for 'nosuch'`},
		"serve --help extra":                     {`No help topic for 'extra'`},
		"--adr":                                  {`there is no flag --adr`, seeRoot},
		"-x":                                     {`there is no flag --x`, seeRoot},
		"serve --adr :1":                         {`there is no flag --adr`, seeServe},
		"serve --jwt-audence=x":                  {`there is no flag --jwt-audence`, seeServe},
		"serve --addr":                           {`--addr needs a value`, seeServe},
		"serve --addr=":                          {badAddr},
		"serve --ephemeral --storage-url x":      {`--ephemeral and --storage-url are both given; give one of them`, seeServe},
		"serve extra":                            {`plantstore serve takes no arguments, but got "extra"`, seeServe},
		"serve -- --addr":                        {`plantstore serve takes no arguments, but got "--addr"`, seeServe},
		"serve -":                                {`plantstore serve takes no arguments, but got "-"`, seeServe},
		"serve -1":                               {`plantstore serve takes no arguments, but got "-1"`, seeServe},
		"serve help":                             {`plantstore serve takes no arguments, but got "help"`, seeServe},
		"config --jwt-require-exp no":            {`plantstore config takes no arguments, but got "no"`, seeConfig},
		"config --jwt-require-exp=maybe --addr=": {`--jwt-require-exp: "maybe": must be true or false`, seeConfig},
		"version postgres://u:tell@h/db":         {`plantstore version takes no arguments, but got "REDACTED"`, "see: plantstore version --help"},
		"version x":                              {`plantstore version takes no arguments, but got "x"`, "see: plantstore version --help"},
		"token --ttl tomorrow":                   {`--ttl: "tomorrow": must be a duration, such as 90s or 24h`, seeToken},
		"token --addr :1":                        {`there is no flag --addr`, seeToken},
		"openapi --format xml":                   {`--format: "xml": must be yaml or json`, "see: plantstore openapi --help"},
		"completion nosuch":                      {`there is no command "nosuch"`, "see: plantstore completion --help"},
		"completion fihs":                        {`there is no command "fihs"`, "see: plantstore completion --help"},
		"completion bash --x":                    {`there is no flag --x`, seeBash},
		"completion bash extra":                  {`plantstore completion bash takes no arguments, but got "extra"`, seeBash},
		"conformance":                            {"the URL of a server is needed: --url http://127.0.0.1:8080", "see: plantstore conformance --help"},
		"conformance --url http://a":             {`a token is needed: TOKEN in the environment, or --token-file`, "see: plantstore conformance --help"},
		"conformance --format x":                 {`--format: "x": must be text, json or junit`, "see: plantstore conformance --help"},
		"conformance --fresh=x":                  {`--fresh: "x": must be true or false`, "see: plantstore conformance --help"},
		"conformance --max-body-bytes 1M":        {`--max-body-bytes: "1M": must be an integer of at most 64 bits`, "see: plantstore conformance --help"},
	}
	for args, want := range tests {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			checkFailure(t, run(t, nil, strings.Fields(args)...), 2, want...)
		})
	}
}

// TestUnknownFlag checks that the error names an unknown flag, however it was typed.
func TestUnknownFlag(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serve -x":              "there is no flag --x",
		"serve --x":             "there is no flag --x",
		"serve ---x":            "there is no flag --x",
		"serve --addr :1 -xy=1": "there is no flag --xy",
		"serve -adr :1":         "there is no flag --adr",
	} {
		checkFailure(t, run(t, nil, strings.Fields(args)...), 2, want, "see: plantstore serve --help")
	}
}

// TestSecretFlagIsRefused checks that a secret on the command line is not repeated (C4.25).
func TestSecretFlagIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--jwt-secret", secret}, {"serve", "--jwt-secret=" + secret}} {
		checkFailure(t, run(t, nil, args...), 2,
			"there is no flag --jwt-secret, since others could read it off the command line; "+
				"use JWT_SECRET or --jwt-secret-file", "see: plantstore serve --help")
	}
}

// TestFlagForAValue checks that a flag in the place of a value is refused: the value was left
// out, or a shell variable is empty.
func TestFlagForAValue(t *testing.T) {
	t.Chdir(t.TempDir())
	checkFailure(t, run(t, nil, "serve", "--storage-url", "--ephemeral"), 2,
		`--storage-url needs a value, and got "--ephemeral"`, "see: plantstore serve --help")
	checkFailure(t, run(t, nil, "config", "--jwt-issuer", "--log-level=info"), 2,
		`--jwt-issuer needs a value, and got "--log-level=info"`, "see: plantstore config --help")
}

// TestWrongConfiguration checks that all wrong values are reported at once, whatever their
// source, and before anything is done.
func TestWrongConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, ".env", "LOG_LEVEL=loud\nJWT_SECRET=short\n")
	for _, command := range []string{"serve", "config"} {
		checkFailure(t, run(t, []string{"MAX_BODY_BYTES=much"}, command, "--addr", "here"), 2,
			`ADDR (--addr): "here": must be HOST:PORT, such as 127.0.0.1:8080 or :8080, or unix:PATH`,
			"JWT_SECRET: the secret is too weak: it has 5 bytes, HS256 needs at least 32; make one with: openssl rand -hex 32",
			`MAX_BODY_BYTES (--max-body-bytes): "much": must be a number of bytes from 1 to 67108864`,
			`LOG_LEVEL (--log-level): "loud": must be debug, info, warn or error`)
	}
}

// TestConfigurationOfNoServer checks that a configuration with which a server cannot run is
// refused by serve and by config, which shows the configuration of a server; the other commands
// work.
func TestConfigurationOfNoServer(t *testing.T) {
	t.Chdir(t.TempDir())
	for clash, want := range map[string]string{
		"ADDR=:8081":     `ADMIN_ADDR (--admin-addr): "127.0.0.1:8081": ADDR, :8081, has the same port; choose another one, or off`,
		"ADMIN_ADDR=off": `PPROF (--pprof): "on": ADMIN_ADDR (--admin-addr) is off, and *`,
	} {
		environ := []string{clash, "PPROF=on", "JWT_SECRET=" + secret}
		for _, command := range []string{"serve", "config"} {
			checkFailure(t, run(t, environ, command), 2, want)
		}
		token(t, environ)
	}
}

func TestDotenvThatIsNone(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, ".env", "JWT_SECRET='"+secret)
	const wrong = " is not NAME=value, or has a quotation mark that is not closed; compare it with .env.example"
	checkFailure(t, run(t, nil, "config"), 2, ".env: line 1"+wrong)
	writeFile(t, ".env", "\ufeffADDR=:1\n\n# none\nJWT_SECRET "+secret+"\nDOCS=off\n")
	checkFailure(t, run(t, nil, "config"), 2, ".env: line 4"+wrong)
}

func TestDotenvThatIsADirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir(".env", 0o700); err != nil {
		t.Fatal(err)
	}
	checkFailure(t, run(t, nil, "config"), 1, filepath.Join(dir, ".env")+": is a directory; make it a file that only this user can change and read, or run the command in another directory")
}

// TestForgedLine checks that a line end in an argument does not begin a new line of the
// message.
func TestForgedLine(t *testing.T) {
	t.Parallel()
	checkFailure(t, run(t, nil, "plants", "get", "--storage-url", "no\nplantstore: \x1b[2Kforged\u009b.db", "1"), 2,
		`STORAGE_URL (--storage-url): *`)
	checkFailure(t, run(t, nil, "plants", "import", "no\nplantstore: \x1b[2Kforged\u009b.csv"), 1,
		`import no\u000aplantstore: \u001b[2Kforged\u009b.csv: *`)
	checkFailure(t, run(t, nil, "--x\nplantstore: forged"), 2, `there is no flag --x\u000aplantstore: forged`, "see: plantstore --help")
}
