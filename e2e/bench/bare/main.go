// Bare is a single Gin route: no store, no log, no middleware. It verifies a token once and
// remembers it, decodes and validates with the server's own models, and collects garbage as
// rarely as the server does. The difference to floor+ is the cost of the server's chain.
package main

import (
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

func main() {
	debug.SetGCPercent(200) // as in serve
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	verified := verifier{secret: []byte(os.Getenv("JWT_SECRET"))}
	decoder := models.NewDecoder(models.Limits{BodyBytes: 1 << 20})
	router.POST("/plants", func(c *gin.Context) {
		if err := verified.check(c.GetHeader("Authorization")); err != nil {
			refuse(c, http.StatusUnauthorized, err)
			return
		}
		create(c, decoder)
	})
	server := http.Server{Addr: os.Getenv("ADDR"), Handler: router, ReadHeaderTimeout: 5 * time.Second}
	slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("serve", "error", server.ListenAndServe())
	os.Exit(1)
}

// create decodes the plant and returns it.
func create(c *gin.Context, decoder *models.Decoder) {
	body, err := c.GetRawData()
	if err != nil {
		refuse(c, http.StatusBadRequest, err)
		return
	}
	var sent models.NewPlant
	if err := decoder.Decode(body, &sent); err != nil {
		refuse(c, http.StatusUnprocessableEntity, err)
		return
	}
	plant, err := sent.Plant().AppendJSON(nil)
	if err != nil {
		refuse(c, http.StatusUnprocessableEntity, err)
		return
	}
	c.Data(http.StatusOK, "application/json", plant)
}

func refuse(c *gin.Context, code int, err error) {
	c.JSON(http.StatusBadRequest, gin.H{"error": code, "message": err.Error()})
}

// A verifier verifies each token once.
type verifier struct {
	secret   []byte
	verified sync.Map // expiry by the value of Authorization; unbounded
}

// check returns an error unless a value of Authorization may be used now.
func (v *verifier) check(authorization string) error {
	if expiry, ok := v.verified.Load(authorization); ok {
		if at, ok := expiry.(time.Time); ok && time.Now().Before(at) {
			return nil
		}
	}
	claims := jwt.RegisteredClaims{}
	key := func(*jwt.Token) (any, error) { return v.secret, nil }
	_, err := jwt.ParseWithClaims(strings.TrimPrefix(authorization, "Bearer "), &claims, key,
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())
	if err != nil {
		return err
	}
	v.verified.Store(authorization, claims.ExpiresAt.Time)
	return nil
}
