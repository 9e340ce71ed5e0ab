package config_test

import (
	"fmt"
	"testing"

	"plantstore/internal/config"
)

func load(t *testing.T, sources config.Sources) *config.Config {
	t.Helper()
	c, err := config.Load(sources)
	if err != nil {
		t.Fatalf("Load(%v): %v", sources, err)
	}
	return c
}

// TestPrecedence checks that flags win over the environment, the environment over .env, and
// .env over the default; a flag does so even if its value is the default. An empty value in the environment or in
// .env is none.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	all := samples()
	for _, o := range config.Options() {
		if o.Env == "PORT" { // TestPort
			continue
		}
		if len(all) == 0 || all[0].env != o.Env {
			t.Fatalf("%s has no sample", o.Env)
		}
		s := all[0]
		all = all[1:]
		if s.fields == nil {
			s.fields = s.texts
		}
		sources := config.Sources{}
		check := func(from, want string) {
			t.Helper()
			if got := fmt.Sprint(s.field(load(t, sources))); got != want {
				t.Errorf("%s %s: %s, want %s", s.env, from, got, want)
			}
		}
		check("by default", s.preset)
		sources.Dotenv = map[string]string{s.env: ""}
		check("empty in .env", s.preset)
		sources.Dotenv = map[string]string{s.env: s.texts[0]}
		check("with .env", s.fields[0])
		sources.Environ = map[string]string{s.env: ""}
		check("empty in the environment", s.fields[0])
		sources.Environ = map[string]string{s.env: s.texts[1]}
		check("with the environment", s.fields[1])
		sources.Flags = map[string]string{s.env: s.texts[2]}
		check("with a flag", s.fields[2])
		sources.Flags[s.env] = o.Default
		check("with a flag like the default", s.preset)
	}
}

func TestPort(t *testing.T) {
	t.Parallel()
	port, addr := map[string]string{"PORT": "3000"}, map[string]string{"ADDR": "localhost:1"}
	both := map[string]string{"PORT": "3000", "ADDR": "localhost:1"}
	for name, test := range map[string]struct {
		sources config.Sources
		want    string
	}{
		"alone":                           {config.Sources{Environ: port}, ":3000"},
		"alone in .env":                   {config.Sources{Dotenv: port}, ":3000"},
		"next to ADDR":                    {config.Sources{Environ: both}, "localhost:1"},
		"next to ADDR in .env":            {config.Sources{Dotenv: both}, "localhost:1"},
		"against a flag":                  {config.Sources{Environ: port, Flags: addr}, "localhost:1"},
		"in the environment against .env": {config.Sources{Environ: port, Dotenv: addr}, ":3000"},
		"in .env against the environment": {config.Sources{Dotenv: port, Environ: addr}, "localhost:1"},
		"0":                               {config.Sources{Environ: map[string]string{"PORT": "0"}}, ":0"},
	} {
		if c := load(t, test.sources); c.Addr != test.want || c.Lines()[0] != "ADDR="+test.want {
			t.Errorf("PORT %s: Addr is %q and the first line %q, want %q", name, c.Addr, c.Lines()[0], test.want)
		}
	}
}
