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
	const seeRoot = "see: plantstore --help"
	see := func(command string) string { return "see: plantstore " + command + " --help" }
	tests := map[string][]string{
		"srve":                                   {`there is no such command: did you mean serve?`, seeRoot},
		"tokne --subject":                        {`there is no such command: did you mean token?`, seeRoot},
		"plants lst":                             {`there is no such command: did you mean list?`, see("plants")},
		"zzz":                                    {`there is no such command`, seeRoot},
		"completion nosuch":                      {`there is no such command: *`, see("completion")},
		"help srve":                              {`there is no such command; see: plantstore --help`},
		"--help postgres://u:tell@h/db":          {`there is no such command; see: plantstore --help`},
		"serve extra":                            {`plantstore serve takes no arguments after its flags, but got 1 argument`, see("serve")},
		"serve -- --addr":                        {`plantstore serve takes no arguments after its flags, but got 1 argument`, see("serve")},
		"serve -1":                               {`plantstore serve takes no arguments after its flags, but got 1 argument`, see("serve")},
		"config --jwt-require-exp no":            {`plantstore config takes no arguments after its flags, but got 1 argument`, see("config")},
		"completion bash extra":                  {`plantstore completion bash takes no arguments after its flags, but got 1 argument`, see("completion bash")},
		"plants get":                             {`plantstore plants get takes ID after its flags, but got 0 arguments`, see("plants get")},
		"plants get 1 2":                         {`plantstore plants get takes ID after its flags, but got 2 arguments`, see("plants get")},
		"plants get 9223372036854775808":         {`ID must be an integer of 64 bits`, see("plants get")},
		"plants export a b":                      {`plantstore plants export takes [FILE] after its flags, but got 2 arguments`, see("plants export")},
		"plants import":                          {`plantstore plants import takes FILE... after its flags, but got 0 arguments`, see("plants import")},
		"backup":                                 {`plantstore backup takes FILE after its flags, but got 0 arguments`, see("backup")},
		"backup -":                               {`a backup cannot go to stdout; name a file, or use plants export`, see("backup")},
		"restore a b":                            {`plantstore restore takes FILE after its flags, but got 2 arguments`, see("restore")},
		"-x":                                     {`flag provided but not defined: -x`, seeRoot},
		"serve --adr :1":                         {`flag provided but not defined: -adr: did you mean --addr?`, see("serve")},
		"serve --addr :1 -xy=1":                  {`flag provided but not defined: -xy*`, see("serve")},
		"help --x":                               {`flag provided but not defined: -x`, see("help")},
		"completion bash --x":                    {`flag provided but not defined: -x`, see("completion bash")},
		"serve --addr":                           {`flag needs an argument: --addr`, see("serve")},
		"serve --storage-url --ephemeral":        {`--storage-url needs a value, and got "--ephemeral"`, see("serve")},
		"serve --addr=":                          {`ADDR (--addr): "": must be HOST:PORT, such as 127.0.0.1:8080 or :8080, or unix:PATH`},
		"serve --ephemeral --storage-url x":      {`--ephemeral and --storage-url are both set; set only one of them`, see("serve")},
		"config --jwt-require-exp=maybe --addr=": {`invalid value "maybe" for flag -jwt-require-exp: *`, see("config")},
		"token --ttl tomorrow":                   {`invalid value "tomorrow" for flag -ttl: time: invalid duration "tomorrow"`, see("token")},
		"plants list --after x":                  {`invalid value "x" for flag -after: *`, see("plants list")},
		"plants list --limit 0x10":               {`invalid value "0x10" for flag -limit: *`, see("plants list")},
		"plants list --limit -1":                 {`--limit: -1: must not be negative`},
		"plants list --format xml":               {`invalid value "xml" for flag -format: must be table, jsonl or csv`, see("plants list")},
		"conformance":                            {"the URL of a server is needed: --url http://127.0.0.1:8080", see("conformance")},
		"conformance --url http://a":             {`a token is needed: TOKEN in the environment, or --token-file`, see("conformance")},
	}
	for args, want := range tests {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			checkFailure(t, run(t, nil, strings.Fields(args)...), 2, want...)
		})
	}
}

// TestSecretFlagIsRefused checks that a secret on the command line is not repeated (C4.25).
func TestSecretFlagIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--jwt-secret", secret}, {"serve", "--jwt-secret=" + secret}} {
		checkFailure(t, run(t, nil, args...), 2,
			"flag provided but not defined: -jwt-secret: did you mean --jwt-secret-file?", "see: plantstore serve --help")
	}
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
		"ADMIN_ADDR=off": `PPROF (--pprof): "on": ADMIN_ADDR (--admin-addr) is off, but it serves the profiles; *`,
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
	const wrong = " is not NAME=value, or has an unclosed quotation mark; compare it with .env.example"
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
	checkFailure(t, run(t, nil, "config"), 2, "read "+filepath.Join(dir, ".env")+": it is not a regular file; make it a file that only this user can change and read, or run the command in another directory")
}

// TestForgedLine checks that a line end in an argument does not begin a new line of the
// message.
func TestForgedLine(t *testing.T) {
	t.Parallel()
	checkFailure(t, run(t, nil, "plants", "get", "--storage-url", "no\nplantstore: \x1b[2Kforged\u009b.db", "1"), 2,
		`STORAGE_URL (--storage-url): *`)
	checkFailure(t, run(t, nil, "plants", "import", "no\nplantstore: \x1b[2Kforged\u009b.csv"), 1,
		`import no\u000aplantstore: \u001b[2Kforged\u009b.csv: *`)
	checkFailure(t, run(t, nil, "--x\nplantstore: forged"), 2, `flag provided but not defined: -x\u000aplantstore: forged*`, "see: plantstore --help")
}
