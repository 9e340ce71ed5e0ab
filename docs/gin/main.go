// The program gin is a small plant store that passes plantstore conformance, as a start for a server of
// your own. With --secret-file, cases of its JWT library fail: leeway, crit, duplicates, bad UTF-8, size and
// depth of tokens. It keeps its plants in memory:
//
//	JWT_SECRET=$(openssl rand -hex 32) ADDR=127.0.0.1:8090 go run ./docs/gin
package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"
)

const maxBody = 1 << 20

type plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

// respond sends a Plant or an Error, and ends the request.
func respond(c *gin.Context, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	c.Header("Content-Type", "application/json")
	c.Status(status)
	_, _ = c.Writer.Write(append(body, '\n'))
	c.Abort()
}

func fail(c *gin.Context, code int, message string) {
	if code == 401 || code == 413 || code == 415 {
		c.Header("Connection", "close") // or the server would wait for the body
	}
	respond(c, http.StatusBadRequest, map[string]any{"error": code, "message": message})
}

func authenticate(secret []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		fields := c.Request.Header.Values("Authorization")
		if len(fields) == 0 {
			c.Header("WWW-Authenticate", "Bearer")
			fail(c, http.StatusUnauthorized, "send a bearer token")
			return
		}
		scheme, token, _ := strings.Cut(fields[0], " ")
		_, err := jwt.Parse(strings.TrimLeft(token, " "), func(*jwt.Token) (any, error) { return secret, nil },
			jwt.WithValidMethods([]string{"HS256"}), jwt.WithStrictDecoding())
		if err != nil || len(fields) > 1 || !strings.EqualFold(scheme, "Bearer") {
			c.Header("WWW-Authenticate", `Bearer error="invalid_token"`)
			fail(c, http.StatusUnauthorized, "the token is not valid")
		}
	}
}

// checkMedia refuses other bodies than JSON in UTF-8.
func checkMedia(c *gin.Context) {
	types, codings := c.Request.Header.Values("Content-Type"), c.Request.Header.Values("Content-Encoding")
	media, parameters, err := mime.ParseMediaType(strings.Join(types, ","))
	coding := strings.Join(codings, ",")
	if err != nil || media != "application/json" || !strings.EqualFold(cmp.Or(parameters["charset"], "utf-8"), "utf-8") ||
		coding != "" && !strings.EqualFold(coding, "identity") {
		fail(c, http.StatusUnsupportedMediaType, "send application/json in UTF-8, without a content coding")
	}
}

// decode returns the id and the plant of a NewPlant, or all of its violations.
func decode(body []byte) (id int64, p plant, violations []string) {
	var fields map[string]jsontext.Value
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return 0, p, []string{"the body must be an object"}
	}
	check := func(name, want string, required, valid bool) {
		switch _, found := fields[name]; {
		case !found && required:
			violations = append(violations, name+": is required")
		case found && !valid:
			violations = append(violations, name+": must be "+want)
		}
	}
	id, ok := integer(string(fields["id"]))
	check("id", "an integer of 64 bits", true, ok)
	check("name", "a string", true, fields["name"].Kind() == '"' && json.Unmarshal(fields["name"], &p.Name) == nil)
	check("tag", "a string", false, fields["tag"].Kind() == '"' && json.Unmarshal(fields["tag"], &p.Tag) == nil)
	return id, p, violations
}

// integer returns the value of a JSON number that is an integer of 64 bits, such as 1.0 or 1e2.
func integer(number string) (int64, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	if number != "" && strings.Trim(digits, "-") == "" {
		return 0, true
	}
	shift, err := strconv.Atoi(cmp.Or(exponent, "0"))
	zeros := shift + len(whole) - len(digits)
	if err != nil || zeros < 0 || zeros > 18 {
		return 0, false
	}
	id, err := strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
	return id, err == nil
}

func main() {
	secret := []byte(os.Getenv("JWT_SECRET"))
	if len(secret) < 32 { // anyone could sign with an empty one
		fmt.Fprintln(os.Stderr, "JWT_SECRET must have at least 32 bytes")
		os.Exit(2)
	}
	var mu sync.Mutex
	plants := map[int64]plant{}
	r := gin.New()
	r.HandleMethodNotAllowed, r.RedirectTrailingSlash = true, false
	r.Use(func(c *gin.Context) {
		c.Header("X-Content-Type-Options", "nosniff")
		id := c.Request.Header.Values("X-Request-Id")
		if len(id) != 1 || !regexp.MustCompile(`^[A-Za-z0-9._~+/=:@-]{1,128}$`).MatchString(id[0]) {
			id = []string{rand.Text()}
		}
		c.Header("X-Request-Id", id[0])
	})
	r.NoRoute(func(c *gin.Context) { fail(c, http.StatusNotFound, "there is nothing here: POST /plants") })
	r.NoMethod(func(c *gin.Context) {
		c.Header("Allow", "POST")
		fail(c, http.StatusMethodNotAllowed, "only POST is allowed")
	})
	r.POST("/plants", authenticate(secret), checkMedia, func(c *gin.Context) {
		if c.Request.ContentLength > maxBody {
			fail(c, http.StatusRequestEntityTooLarge, "the body is too large")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			fail(c, http.StatusRequestEntityTooLarge, "the body is too large")
			return
		}
		if err != nil || !jsontext.Value(body).IsValid() {
			fail(c, http.StatusBadRequest, "the body is not valid JSON")
			return
		}
		id, p, violations := decode(body)
		if len(violations) > 0 {
			fail(c, http.StatusUnprocessableEntity, strings.Join(violations, "; "))
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if stored, taken := plants[id]; taken {
			fail(c, http.StatusConflict, fmt.Sprintf("id: %d is taken; the same plant: %t", id, reflect.DeepEqual(stored, p)))
			return
		}
		plants[id] = p
		respond(c, http.StatusOK, p)
	})
	fmt.Fprintln(os.Stderr, r.Run(os.Getenv("ADDR"))) // it returns only on failure
	os.Exit(1)
}
