package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
// .env over the default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		t.Run(s.env, func(t *testing.T) {
			t.Parallel()
			sources := config.Sources{}
			if got := s.field(load(t, sources)); got != s.preset {
				t.Errorf("by default %#v, want %#v", got, s.preset)
			}
			sources.Dotenv = map[string]string{s.env: s.texts[0]}
			if got := s.field(load(t, sources)); got != s.values[0] {
				t.Errorf("with .env %#v, want %#v", got, s.values[0])
			}
			sources.Environ = map[string]string{s.env: s.texts[1]}
			if got := s.field(load(t, sources)); got != s.values[1] {
				t.Errorf("with the environment %#v, want %#v", got, s.values[1])
			}
			sources.Flags = map[string]string{s.env: s.texts[2]}
			if got := s.field(load(t, sources)); got != s.values[2] {
				t.Errorf("with a flag %#v, want %#v", got, s.values[2])
			}
		})
	}
}

// TestFlagEqualToDefaultWins checks that a flag has precedence even if its value is the
// default.
func TestFlagEqualToDefaultWins(t *testing.T) {
	t.Parallel()
	for _, o := range config.Options() {
		if o.Flag == "" {
			continue
		}
		t.Run(o.Env, func(t *testing.T) {
			t.Parallel()
			s := samples()[sampleIndex(t, o.Env)]
			c := load(t, config.Sources{
				Flags:   map[string]string{o.Env: o.Default},
				Environ: map[string]string{o.Env: s.texts[0]},
				Dotenv:  map[string]string{o.Env: s.texts[1]},
			})
			if got := s.field(c); got != s.preset {
				t.Errorf("%#v, want the default %#v", got, s.preset)
			}
		})
	}
}

func sampleIndex(t *testing.T, env string) int {
	t.Helper()
	for i, s := range samples() {
		if s.env == env {
			return i
		}
	}
	t.Fatalf("no sample of %s", env)
	return 0
}

// TestEmptyIsNone checks that an empty value in the environment or in .env counts as none.
func TestEmptyIsNone(t *testing.T) {
	t.Parallel()
	empty := make(map[string]string)
	for _, o := range config.Options() {
		empty[o.Env] = ""
	}
	want := load(t, config.Sources{}).Lines()
	if diff := cmp.Diff(want, load(t, config.Sources{Environ: empty, Dotenv: empty}).Lines()); diff != "" {
		t.Errorf("all empty (-none +empty):\n%s", diff)
	}
	c := load(t, config.Sources{
		Environ: map[string]string{"JWT_ISSUER": ""},
		Dotenv:  map[string]string{"JWT_ISSUER": "from .env"},
	})
	if !slices.Equal(c.JWTIssuers, []string{"from .env"}) {
		t.Errorf("an empty variable overrides .env: %q", c.JWTIssuers)
	}
}

func TestPort(t *testing.T) {
	t.Parallel()
	port, addr := map[string]string{"PORT": "3000"}, map[string]string{"ADDR": "localhost:1"}
	both := map[string]string{"PORT": "3000", "ADDR": "localhost:1"}
	tests := map[string]struct {
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
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, test.sources)
			if c.Addr != test.want || c.Lines()[0] != "ADDR="+test.want {
				t.Errorf("Addr is %q and the first line %q, want %q", c.Addr, c.Lines()[0], test.want)
			}
		})
	}
}

// TestAllWrongValuesAreReported checks that all faults are reported at once, a line each, by
// their names.
func TestAllWrongValuesAreReported(t *testing.T) {
	t.Parallel()
	wrong := make(map[string]string)
	var want []string
	for env, texts := range wrongValues() {
		wrong[env] = texts[0]
		want = append(want, env)
	}
	wrong["JWT_SECRET"] = "beside JWT_SECRET_FILE, and long enough"
	c, err := config.Load(config.Sources{Environ: wrong})
	if err == nil || c != nil {
		t.Fatalf("Load = %v, %v, want an error alone", c, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want)+1 {
		t.Errorf("%d lines, want one for each of %v and one for the two secrets:\n%v", len(lines), want, err)
	}
	for _, o := range config.Options() {
		if texts := wrongValues()[o.Env]; texts == nil {
			continue
		}
		start := o.Env + ": "
		if o.Flag != "" {
			start = o.Env + " (--" + o.Flag + "): "
		}
		if !strings.Contains("\n"+err.Error(), "\n"+start) {
			t.Errorf("no line starts with %q:\n%v", start, err)
		}
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, "JWT_SECRET and JWT_SECRET_FILE are both set") {
		t.Errorf("the last line is %q", last)
	}
}
