package auth_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/middleware/auth"
	"plantstore/models"
)

func Example() {
	secret := auth.Secret("0123456789abcdef0123456789abcdef") // of the one who signs tokens
	verifier, err := auth.New(auth.Options{
		Secrets: []auth.Secret{secret},
		Issuers: []string{"nursery"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, issuer := range []string{"nursery", "stranger"} {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "gardener", "iss": issuer}).SignedString([]byte(secret))
		if err != nil {
			fmt.Println(err)
			return
		}
		subject, err := verifier.Verify(context.Background(), token)
		if failure, ok := errors.AsType[*models.Error](err); ok {
			fmt.Println(failure.Code, failure.Message)
			continue
		}
		fmt.Println("accepted:", subject)
	}
	// Output:
	// accepted: gardener
	// 401 the access token is from an issuer (iss) that is not accepted here
}
