package routes_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/middleware/auth"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// The secret of those who may sign tokens.
const secret = "an example: openssl rand -hex 32 prints a good one"

// Example opens a store, accepts tokens that are signed with a secret, and serves the plant store. Then
// a client creates a plant.
func Example() {
	dir, err := os.MkdirTemp("", "plants")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()

	store, err := bbolt.OpenFile(filepath.Join(dir, "plants.db"), storage.Options{})
	check(err)
	defer func() { check(store.Close()) }()
	verifier, err := auth.New(auth.Options{Secrets: []auth.Secret{auth.Secret(secret)}})
	check(err)
	handler, err := routes.New(routes.Options{Store: store, Verify: verifier.Verify})
	check(err)
	server := httptest.NewServer(handler) // in a program: http.ListenAndServe("127.0.0.1:8080", handler)
	defer server.Close()

	fmt.Print(create(server.URL, `{"id": 7, "name": "Monstera"}`))
	fmt.Print(create(server.URL, `{"id": 7, "name": "Fern"}`))
	// Output:
	// {"name":"Monstera"}
	// {"error":409,"message":"id: 7 is taken; the stored plant is different from this one"}
}

// create sends a plant and returns the body of the response.
func create(url, plant string) string {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "alice"}).SignedString([]byte(secret))
	check(err)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/plants", strings.NewReader(plant))
	check(err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(err)
	return string(body)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
