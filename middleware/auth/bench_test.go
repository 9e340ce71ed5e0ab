package auth

import (
	"strings"
	"testing"
)

// BenchmarkRefuse measures tokens that are refused: a short one, and those that take the most room.
func BenchmarkRefuse(b *testing.B) {
	v := newVerifier(optionsOf(hs256))
	deep := `{"alg":"HS256","x":` + strings.Repeat("[", 10<<10)
	for name, token := range map[string]string{
		"short":         hmacKind("HS256", []byte(testSecret+"x")).token(`{"sub":"x"}`),
		"nested header": hs256.sign(deep, `{}`),
		"nested claims": hs256.sign(`{"alg":"HS256"}`, deep),
		"long claims":   hmacKind("HS256", []byte(testSecret+"x")).token(`{"x":"` + strings.Repeat("x", 10<<10) + `"}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), token); err == nil {
					b.Fatal("accepted")
				}
			}
		})
	}
}
