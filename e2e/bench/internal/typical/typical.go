// Package typical is a typical plant store with Gin: binding by struct tags, parsing the token
// for each request, a response by Context.JSON. The reference programs of the benchmarks differ
// only in the store.
package typical

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
)

// A NewPlant is the body of a request.
type NewPlant struct {
	ID   *int64  `binding:"required" json:"id"`
	Name *string `binding:"required" json:"name"`
	Tag  *string `json:"tag"`
}

// A Plant is the body of a response, and a stored plant.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

// ErrTaken is returned by a store if the id is taken.
var ErrTaken = errors.New("the id is taken")

// Serve listens on ADDR, accepts tokens that are signed with JWT_SECRET, both from the
// environment, and calls save for each plant. It returns only on failure.
func Serve(save func(id int64, plant Plant) error) error {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	router.POST("/plants", authenticate([]byte(os.Getenv("JWT_SECRET"))), create(save))
	server := http.Server{Addr: os.Getenv("ADDR"), Handler: router, ReadHeaderTimeout: 5 * time.Second}
	return server.ListenAndServe()
}

func authenticate(secret []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		token, found := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
		if !found {
			fail(c, http.StatusUnauthorized, "send a bearer token")
			return
		}
		key := func(*jwt.Token) (any, error) { return secret, nil }
		_, err := jwt.ParseWithClaims(token, &jwt.RegisteredClaims{}, key, jwt.WithValidMethods([]string{"HS256"}))
		if err != nil {
			fail(c, http.StatusUnauthorized, err.Error())
		}
	}
}

func create(save func(id int64, plant Plant) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		var sent NewPlant
		if err := c.ShouldBindJSON(&sent); err != nil {
			fail(c, http.StatusUnprocessableEntity, err.Error())
			return
		}
		plant := Plant{Name: *sent.Name, Tag: sent.Tag}
		switch err := save(*sent.ID, plant); {
		case errors.Is(err, ErrTaken):
			fail(c, http.StatusConflict, err.Error())
		case err != nil:
			fail(c, http.StatusInternalServerError, err.Error())
		default:
			c.JSON(http.StatusOK, plant)
		}
	}
}

func fail(c *gin.Context, code int, message string) {
	c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": code, "message": message})
}
