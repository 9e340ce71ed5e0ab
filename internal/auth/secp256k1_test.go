package auth

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"testing"
)

// secp256k1 is the curve of ES256K (RFC 8812), which the standard library does not support.
func secp256k1(t *testing.T) pkix.AlgorithmIdentifier {
	t.Helper()
	curve := marshal(t, asn1.ObjectIdentifier{1, 3, 132, 0, 10})
	return pkix.AlgorithmIdentifier{
		Algorithm:  asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1},
		Parameters: asn1.RawValue{FullBytes: curve},
	}
}

// publicSecp256k1 returns a PEM block PUBLIC KEY of that curve.
func publicSecp256k1(t *testing.T) string {
	t.Helper()
	return block(t, "PUBLIC KEY", marshal(t, struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}{secp256k1(t), asn1.BitString{Bytes: make([]byte, 65), BitLength: 65 * 8}}), nil)
}

// privateSecp256k1 returns a PEM block PRIVATE KEY of that curve.
func privateSecp256k1(t *testing.T) string {
	t.Helper()
	type secret struct {
		Version int
		Key     []byte
	}
	return block(t, "PRIVATE KEY", marshal(t, struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}{0, secp256k1(t), marshal(t, secret{1, make([]byte, 32)})}), nil)
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	der, err := asn1.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// TestJWKOfUnknownCurve checks that the error for a JWK on an unsupported curve lists the
// supported curves, as for PEM.
func TestJWKOfUnknownCurve(t *testing.T) {
	t.Parallel()
	for _, curve := range []string{"secp256k1", "P-224", ""} {
		_, err := parseJWK([]byte(`{"kty":"EC","crv":"` + curve + `","x":"AAAA","y":"AAAA"}`))
		if !errors.Is(err, errCurve) {
			t.Errorf("%q: %v, want: %v", curve, err, errCurve)
		}
	}
}
