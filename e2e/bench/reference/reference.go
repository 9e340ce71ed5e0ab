// Package reference contains the programs that the benchmarks compare plantstore with. The servers
// listen on ADDR, and accept tokens signed with JWT_SECRET.
package reference

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
	bolt "go.etcd.io/bbolt"
)

// Run runs the program with this name. A server returns only on failure.
func Run(name string) error {
	run, found := map[string]func() error{
		"floor":  func() error { return serveTypical(func(int64, plant) error { return nil }) },
		"naive":  naive,
		"bare":   bare,
		"floor+": floorPlus,
		"bbolt":  importMillion,
	}[name]
	if !found {
		return errors.New("there is no reference program " + name)
	}
	return run()
}

// A newPlant is the body of a request.
type newPlant struct {
	ID *int64 `binding:"required" json:"id"`
	plant
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
		var sent newPlant
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
	server := http.Server{Addr: os.Getenv("ADDR"), Handler: router, ReadHeaderTimeout: 5 * time.Second}
	return server.ListenAndServe()
}

// naive is a typical server that stores each plant in a transaction.
func naive() error {
	db, err := open()
	if err != nil {
		return err
	}
	return serveTypical(func(id int64, p plant) error {
		return db.Update(func(tx *bolt.Tx) error { return put(tx, id, p) })
	})
}

// importMillion stores a million plants with ascending ids.
func importMillion() error {
	db, err := open()
	if err != nil {
		return err
	}
	const first, end, batch = 1e15, 1e15 + 1_000_000, 16_384 // batch as plantstore plants import
	tag := "indoor"
	for from := int64(first); from < end; from += batch {
		err := db.Update(func(tx *bolt.Tx) error {
			for id := from; id < min(from+batch, end); id++ {
				if err := put(tx, id, plant{Name: "Fern", Tag: &tag}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return db.Close()
}

// open creates the database plants.db in the working directory.
func open() (*bolt.DB, error) {
	db, err := bolt.Open("plants.db", 0o600, nil)
	if err != nil {
		return nil, err
	}
	return db, db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("plants"))
		return err
	})
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
