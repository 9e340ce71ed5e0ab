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

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
	bolt "go.etcd.io/bbolt"
)

// Run runs the program with this name. A server returns only on failure.
func Run(name string) error {
	if name == "floor" {
		return serve(func(int64, plant) error { return nil })
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
	// naive stores each plant in a transaction.
	return serve(func(id int64, p plant) error {
		return db.Update(func(tx *bolt.Tx) error { return put(tx, id, p) })
	})
}

// A plant is the body of a response, and a stored plant.
type plant struct {
	Name string  `binding:"required" json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

// serve is a typical server with Gin: parsing the token for each request, binding by struct tags, a
// response by Context.JSON.
func serve(save func(id int64, p plant) error) error {
	secret, methods := []byte(os.Getenv("JWT_SECRET")), jwt.WithValidMethods([]string{"HS256"})
	create := func(c *gin.Context) error {
		token := strings.TrimPrefix(c.GetHeader("Authorization"), "Bearer ")
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
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	router.POST("/plants", func(c *gin.Context) {
		if err := create(c); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": http.StatusBadRequest, "message": err.Error()})
		}
	})
	return router.Run(os.Getenv("ADDR"))
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
