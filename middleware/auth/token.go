package auth

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

const (
	// maxDepth limits objects and arrays in the header and in the claims (C4.25a), before they are parsed: a parser
	// that recurses would keep a large stack for each connection.
	maxDepth = 16
	// maxTrials is the maximum number of keys that a token is tried with (C4.25a).
	maxTrials = 4
)

// A parsedToken is well-formed, and not verified.
type parsedToken struct {
	alg, kid  string // in the header; empty: none
	signed    string // the header and the claims, as they were signed
	claims    []byte // JSON
	signature []byte
}

// parse decodes a token: three segments of unpadded base64url (RFC 7515, section 7.1). Its header is
// a JSON object without duplicates and without crit, since no extension is supported (section 4.1.11).
// Keys in the header are ignored (C4.21).
func parse(token string) (t parsedToken, err error) {
	segments := strings.SplitN(token, ".", 4)
	switch {
	case token == "":
		return t, refuse(ReasonMalformed, "the access token is empty; plantstore token prints one")
	case len(segments) != 3, strings.Contains(token, "\n"), strings.Contains(token, "\r"): // which the decoder skips
		return t, errMalformed
	case encoding().DecodedLen(len(segments[0])) > models.MaxTokenHeader:
		return t, refuse(ReasonMalformed, "the header of the access token has more than %d bytes", models.MaxTokenHeader)
	}
	text, err := decode(segments[0])
	if err != nil {
		return t, err
	}
	var header struct {
		Alg  jsontext.Value `json:"alg"`
		Kid  jsontext.Value `json:"kid"`
		Crit jsontext.Value `json:"crit"`
	}
	if err := unmarshalObject(text, &header); err != nil || header.Crit != nil {
		return t, errMalformed
	}
	t.alg, t.kid, t.signed = stringOf(header.Alg), stringOf(header.Kid), token[:len(segments[0])+1+len(segments[1])]
	if t.alg == ed25519Alg {
		t.alg = "EdDSA"
	}
	if t.claims, err = decode(segments[1]); err != nil {
		return t, err
	}
	if t.signature, err = encoding().DecodeString(segments[2]); err != nil {
		return t, errMalformed
	}
	return t, nil
}

func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }

// decode returns the JSON in a segment.
func decode(segment string) ([]byte, error) {
	text, err := encoding().DecodeString(segment)
	switch {
	case err != nil:
		return nil, errMalformed
	case nestsTooDeep(text):
		return nil, refuse(ReasonMalformed, "the access token nests deeper than %d levels", maxDepth)
	}
	return text, nil
}

// nestsTooDeep reports whether JSON nests deeper than maxDepth. In a text that is not valid JSON it may be wrong,
// but only after the first error, where no parser gets.
func nestsTooDeep(text []byte) bool {
	depth, quoted, escaped := 0, false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// unmarshalObject decodes a JSON object without duplicate names.
func unmarshalObject(text []byte, fields any) error {
	if jsontext.Value(text).Kind() != jsontext.KindBeginObject || json.Unmarshal(text, fields) != nil {
		return errMalformed
	}
	return nil
}

// verify checks the signature with at most maxTrials of the keys that are bound to the algorithm: first
// those with the kid of the token, then, for a token with a kid, those without one, else the others. If
// each key of the algorithm has a kid, the token needs one, too.
func (t parsedToken) verify(keys []boundKey) error {
	var named, others []boundKey
	bound := false
	for _, key := range keys {
		switch {
		case !slices.Contains(key.algorithms, t.alg):
			continue
		case key.id == t.kid:
			named = append(named, key)
		case key.id == "" || t.kid == "":
			others = append(others, key)
		}
		bound = true
	}
	fitting := slices.Concat(named, others)
	switch {
	case !bound:
		return t.unknownAlgorithm(keys)
	case len(fitting) == 0:
		return errUnknownKey
	case t.kid == "" && named == nil:
		return refuse(ReasonUnknownKey, "the header of the access token lacks kid, the name of the key that signed it")
	}
	method := jwt.GetSigningMethod(t.alg)
	for _, key := range fitting[:min(len(fitting), maxTrials)] {
		if method.Verify(t.signed, t.signature, key.material) == nil {
			return nil
		}
	}
	return errSignature
}

// unknownAlgorithm returns the error if no key is bound to the algorithm. It names only registered ones
// (C4.25).
func (t parsedToken) unknownAlgorithm(keys []boundKey) error {
	var accepted []string
	for _, key := range keys {
		accepted = append(accepted, key.algorithms...)
	}
	if accepted == nil {
		return errUnknownKey
	}
	slices.Sort(accepted)
	arrived := "unknown"
	if jwt.GetSigningMethod(t.alg) != nil {
		arrived = t.alg
	}
	return refuse(ReasonUnknownKey, "the algorithm (alg) of the access token is %s, and this server accepts %s",
		arrived, strings.Join(slices.Compact(accepted), ", "))
}
