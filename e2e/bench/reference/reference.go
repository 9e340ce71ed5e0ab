// Package reference contains the programs that the benchmarks compare plantstore with. The servers
// listen on ADDR, and accept tokens signed with JWT_SECRET.
package reference

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
	bolt "go.etcd.io/bbolt"

	"plantstore/internal/logging"
	"plantstore/internal/operate"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/routes"
)

// Run runs the program with this name. A server returns only on failure.
func Run(name string) error {
	switch name {
	case "floor":
		return serveTypical(func(int64, plant) error { return nil })
	case "bare":
		return bare()
	case "floor+":
		return floorPlus()
	}
	db, err := bolt.Open("plants.db", 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("plants"))
		return err
	})
	if err != nil {
		return err
	}
	if name == "bbolt" {
		return errors.Join(importMillion(db), db.Close())
	}
	// naive stores each plant in a transaction.
	return serveTypical(func(id int64, p plant) error {
		return db.Update(func(tx *bolt.Tx) error { return put(tx, id, p) })
	})
}

// A plant is the body of a response, and a stored plant.
type plant struct {
	Name string  `binding:"required" json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

// serveTypical is a typical server with Gin: parsing the token for each request, binding by struct
// tags, a response by Context.JSON.
func serveTypical(save func(id int64, p plant) error) error {
	secret, methods := []byte(os.Getenv("JWT_SECRET")), jwt.WithValidMethods([]string{"HS256"})
	return serve(func(c *gin.Context, token string) error {
		_, err := jwt.ParseWithClaims(token, &jwt.RegisteredClaims{}, func(*jwt.Token) (any, error) { return secret, nil }, methods)
		if err != nil {
			return err
		}
		var sent struct {
			ID *int64 `binding:"required" json:"id"`
			plant
		}
		if err := c.ShouldBindJSON(&sent); err != nil {
			return err
		}
		if err := save(*sent.ID, sent.plant); err != nil {
			return err
		}
		c.JSON(http.StatusOK, sent.plant)
		return nil
	})
}

// serve serves POST /plants by a function that gets the bearer token.
func serve(create func(c *gin.Context, token string) error) error {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	router.POST("/plants", func(c *gin.Context) {
		if err := create(c, strings.TrimPrefix(c.GetHeader("Authorization"), "Bearer ")); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": http.StatusBadRequest, "message": err.Error()})
		}
	})
	return router.Run(os.Getenv("ADDR"))
}

// importMillion stores a million plants with ascending ids.
func importMillion(db *bolt.DB) (err error) {
	const first, end, batch = 1e15, 1e15 + 1_000_000, 16_384 // batch as plantstore plants import
	tag := "indoor"
	for from := int64(first); from < end && err == nil; from += batch {
		err = db.Update(func(tx *bolt.Tx) (err error) {
			for id := from; id < min(from+batch, end) && err == nil; id++ {
				err = put(tx, id, plant{Name: "Fern", Tag: &tag})
			}
			return err
		})
	}
	return err
}

// put stores a plant unless its id is taken.
func put(tx *bolt.Tx, id int64, p plant) error {
	plants, key := tx.Bucket([]byte("plants")), binary.BigEndian.AppendUint64(nil, uint64(id))
	if plants.Get(key) != nil {
		return errors.New("the id is taken")
	}
	value, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return plants.Put(key, value)
}

func newVerifier() *auth.Verifier {
	verifier, err := auth.New(auth.Options{Secrets: []auth.Secret{auth.Secret(os.Getenv("JWT_SECRET"))}})
	if err != nil {
		panic(err) // the benchmark generates the secret
	}
	return verifier
}

// bare verifies, decodes and validates as plantstore does, in one Gin route without a store, a log
// and other middleware than gin.Recovery.
func bare() error {
	debug.SetGCPercent(200) // as plantstore serve
	verifier, decoder := newVerifier(), models.NewDecoder(1<<20)
	return serve(func(c *gin.Context, token string) error {
		if _, err := verifier.Verify(c.Request.Context(), token); err != nil {
			return err
		}
		body, err := c.GetRawData()
		if err != nil {
			return err
		}
		var sent models.NewPlant
		if err := decoder.Decode(body, &sent); err != nil {
			return err
		}
		response, err := sent.Plant().AppendJSON(nil)
		if err != nil {
			return err
		}
		c.Data(http.StatusOK, "application/json", response)
		return nil
	})
}

// floorPlus is plantstore's server, composed as by plantstore serve, with a store that keeps
// nothing. It logs errors only, because bare has no log.
func floorPlus() error {
	debug.SetGCPercent(200) // as plantstore serve
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", os.Getenv("ADDR"))
	if err != nil {
		return err
	}
	logger, _ := logging.New(os.Stderr, logging.JSON, slog.LevelError)
	log, metrics := middleware.AccessLog(logger), operate.NewObserver()
	handler, err := routes.New(routes.Options{
		Store: discard{}, Verify: newVerifier().Verify,
		Observe: func(ctx context.Context, o *middleware.Outcome) {
			log(ctx, o)
			metrics.Request(o)
		},
	})
	if err != nil {
		return err
	}
	return server.New(server.Config{
		Handler:         handler,
		Logger:          logger,
		Refused:         func(*models.Error, string, string) {},
		RequestTimeout:  30 * time.Second,
		ShutdownTimeout: 10 * time.Second,
	}).Serve(context.Background(), listener)
}

// A discard is a [routes.Store] that keeps nothing.
type discard struct{}

// Create returns nil.
func (discard) Create(context.Context, int64, models.Plant) error { return nil }
