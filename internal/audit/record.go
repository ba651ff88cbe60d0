package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

// record is what one line says.
type record struct {
	Seq  int64           `json:"seq"`
	Prev string          `json:"prev"`
	Time time.Time       `json:"time"`
	Torn int             `json:"torn_bytes,omitempty"` // taken away before this record
	Body json.RawMessage `json:"entry,omitempty"`
}

// line is a record as it stands in a file.
type line struct {
	Hash   string          `json:"hash"`
	Record json.RawMessage `json:"record"`
}

func hashOf(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}

// encode writes a record as a line.
func encode(r record) (text []byte, hash string, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, "", err
	}
	hash = hashOf(body)
	// Written by hand: the record is to stand there byte by byte as it was hashed.
	text = append([]byte(`{"hash":"`+hash+`","record":`), body...)
	if text = append(text, "}\n"...); len(text) > maxLine {
		return nil, "", fmt.Errorf("the entry is %d bytes long, at most %d are allowed", len(text), maxLine)
	}
	return text, hash, nil
}

// decode reads a line, without its end.
func decode(text []byte) (r record, hash string, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return r, "", errors.New("it is no line of an audit log")
	}
	if want := append([]byte(`{"hash":"`+l.Hash+`","record":`), append(l.Record, '}')...); !bytes.Equal(want, text) {
		return r, "", errors.New("it has more than a hash and a record, or has them in another form")
	}
	if hashOf(l.Record) != l.Hash {
		return r, "", errors.New("it was changed: the hash is not that of the record")
	}
	decoder := json.NewDecoder(bytes.NewReader(l.Record))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, "", errors.New("its record is none of an audit log")
	}
	return r, l.Hash, nil
}
