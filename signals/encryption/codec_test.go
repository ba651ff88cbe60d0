package encryption_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/signals/encryption"
)

// key is a key of 32 equal bytes.
func key(id string, of byte) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{of}, 32))
}

func parse(t testing.TB, keys ...string) *encryption.Codec {
	t.Helper()
	codec, err := encryption.Parse(strings.Join(keys, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func payloads(t testing.TB, values ...any) []*commonpb.Payload {
	t.Helper()
	encoded, err := converter.GetDefaultDataConverter().ToPayloads(values...)
	if err != nil {
		t.Fatal(err)
	}
	return encoded.GetPayloads()
}

func TestPayloadsComeBack(t *testing.T) {
	codec := parse(t, key("k1", 1))
	plain := payloads(t, "hello", nil, []byte{0, 1}, map[string]any{"text": strings.Repeat("x", 1<<20)})
	plain = append(plain, &commonpb.Payload{})
	encrypted, err := codec.Encode(plain)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range encrypted {
		if string(p.GetMetadata()["encoding"]) != "binary/encrypted" || string(p.GetMetadata()["encryption-key-id"]) != "k1" || len(p.GetMetadata()) != 2 {
			t.Errorf("payload %d: metadata %v", i, p.GetMetadata())
		}
		if len(p.GetData()) < 28 || bytes.Contains(p.GetData(), []byte("json/plain")) || bytes.Contains(p.GetData(), []byte("hello")) {
			t.Errorf("payload %d is in clear: %q", i, p.GetData()[:min(60, len(p.GetData()))])
		}
	}
	again, err := codec.Encode(plain)
	if err != nil || bytes.Equal(again[0].GetData(), encrypted[0].GetData()) {
		t.Errorf("equal payloads are encrypted alike (%v)", err)
	}
	back, err := codec.Decode(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plain {
		if !proto.Equal(plain[i], back[i]) {
			t.Errorf("payload %d came back as %v", i, back[i])
		}
	}
}

// A new key in front encrypts, the old one reads on; what was never encrypted is read
// as it stands.
func TestKeysAreReplaced(t *testing.T) {
	old, err := parse(t, key("2025", 1)).Encode(payloads(t, "old"))
	if err != nil {
		t.Fatal(err)
	}
	both := parse(t, key("2026", 2), key("2025", 1))
	fresh, err := both.Encode(payloads(t, "new"))
	if err != nil || string(fresh[0].GetMetadata()["encryption-key-id"]) != "2026" {
		t.Fatalf("encrypted as %v, %v", fresh, err)
	}
	all := append(append(old, fresh...), payloads(t, "clear")...)
	var words [3]string
	back := &commonpb.Payloads{Payloads: all}
	if err := both.DataConverter().FromPayloads(back, &words[0], &words[1], &words[2]); err != nil || words != [3]string{"old", "new", "clear"} {
		t.Errorf("read %q, %v", words, err)
	}
}

// A key that is missing or is another is told in a line.
func TestWrongKeys(t *testing.T) {
	encrypted, err := parse(t, key("k1", 1)).Encode(payloads(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	altered := []*commonpb.Payload{proto.CloneOf(encrypted[0])}
	altered[0].Data[20] ^= 1
	short := []*commonpb.Payload{{Metadata: encrypted[0].GetMetadata(), Data: []byte("x")}}
	renamed := []*commonpb.Payload{proto.CloneOf(encrypted[0])}
	renamed[0].Metadata["encryption-key-id"] = []byte("k2")
	for want, test := range map[string]struct {
		codec *encryption.Codec
		given []*commonpb.Payload
	}{
		`it is encrypted with the key "k1", and here there are k3, k2`:         {parse(t, key("k3", 3), key("k2", 2)), encrypted},
		`with the key "k1": it does not open: it was altered, or the key of`:   {parse(t, key("k1", 9)), encrypted},
		`with the key "k1", and there are no keys here; set HEDDLE_PAYLOAD_KE`: {&encryption.Codec{}, encrypted},
		"it was altered": {parse(t, key("k1", 1)), altered},
		"the payload cannot be decrypted with the key \"k1\"": {parse(t, key("k1", 1)), short},
		"the payload cannot be decrypted with the key \"k2\"": {parse(t, key("k1", 1), key("k2", 1)), renamed},
	} {
		_, err := test.codec.Decode(test.given)
		if !errors.Is(err, encryption.ErrKey) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := encryption.Parse("k1:secret-key-of-mine"); err == nil || strings.Contains(err.Error(), "secret-key") || !strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("a key that is none: %v", err)
	}
}

// Without keys nothing changes.
func TestNoKeys(t *testing.T) {
	codec := &encryption.Codec{}
	plain := payloads(t, "hello")
	encoded, err := codec.Encode(plain)
	if err != nil || !proto.Equal(encoded[0], plain[0]) || codec.Encrypts() {
		t.Errorf("encoded as %v, %v", encoded, err)
	}
	own := converter.NewCodecDataConverter(converter.GetDefaultDataConverter())
	if options := codec.Options(client.Options{DataConverter: own}); options.DataConverter != own {
		t.Error("the converter that was set is lost")
	}
	failure := codec.FailureConverter().ErrorToFailure(errors.New("words"))
	if failure.GetMessage() != "words" {
		t.Errorf("failure %v", failure)
	}
}

func TestEndpoint(t *testing.T) {
	codec := parse(t, key("k1", 1))
	endpoint := codec.Endpoint("http://localhost:8233")
	encrypted, err := codec.Encode(payloads(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: encrypted})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, host, origin string, body []byte) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://"+host+"/decode", bytes.NewReader(body))
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		return w
	}
	for name, test := range map[string]struct {
		method, host, origin string
		body                 []byte
		code                 int
	}{
		"the UI":           {http.MethodPost, "localhost:8081", "http://localhost:8233", body, http.StatusOK},
		"the CLI":          {http.MethodPost, "127.0.0.1:8081", "", body, http.StatusOK},
		"IPv6":             {http.MethodPost, "[::1]:8081", "", body, http.StatusOK},
		"before the UI":    {http.MethodOptions, "localhost:8081", "http://localhost:8233", nil, http.StatusNoContent},
		"another page":     {http.MethodPost, "localhost:8081", "http://evil.example", body, http.StatusForbidden},
		"before another":   {http.MethodOptions, "localhost:8081", "http://evil.example", nil, http.StatusForbidden},
		"no origin at all": {http.MethodPost, "localhost:8081", "null", body, http.StatusForbidden},
		"a rebound name":   {http.MethodPost, "evil.example:8081", "", body, http.StatusForbidden},
		"not a request":    {http.MethodPost, "localhost", "", []byte("{"), http.StatusBadRequest},
		"a GET":            {http.MethodGet, "localhost", "", nil, http.StatusNotFound},
	} {
		w := ask(test.method, test.host, test.origin, test.body)
		if allowed := w.Header().Get("Access-Control-Allow-Origin"); w.Code != test.code || w.Code < 300 && allowed != test.origin || w.Code == http.StatusForbidden && allowed != "" {
			t.Errorf("%s: %d %q, headers %v", name, w.Code, w.Body, w.Header())
		}
		if decoded := base64.StdEncoding.EncodeToString([]byte(`"hello"`)); w.Code == http.StatusOK && !strings.Contains(w.Body.String(), decoded) {
			t.Errorf("%s: %q", name, w.Body)
		}
	}
}

func FuzzDecode(f *testing.F) {
	codec := parse(f, key("k1", 1))
	encrypted, err := codec.Encode(payloads(f, "hello"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("k1", encrypted[0].GetData())
	f.Add("", []byte{})
	f.Fuzz(func(t *testing.T, id string, data []byte) {
		p := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/encrypted"), "encryption-key-id": []byte(id)}, Data: data}
		if _, err := codec.Decode([]*commonpb.Payload{p}); err == nil && !bytes.Equal(data, encrypted[0].GetData()) {
			t.Errorf("%q with the key %q is taken for encrypted", data, id)
		}
	})
}

// A failure that cannot be decrypted says why, at each of its causes.
func TestFailuresWithoutTheKey(t *testing.T) {
	failure := parse(t, key("k1", 1)).FailureConverter().ErrorToFailure(
		temporal.NewApplicationErrorWithCause("outer", "Outer", temporal.NewApplicationError("inner", "Inner")))
	before := proto.CloneOf(failure)
	back := parse(t, key("k2", 2)).FailureConverter().FailureToError(failure)
	if n := strings.Count(back.Error(), `it is encrypted with the key "k1", and here there are k2`); n != 2 || !proto.Equal(failure, before) {
		t.Errorf("the failure became %v, and is %v", back, failure)
	}
}
