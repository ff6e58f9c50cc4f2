// Sends bytes over QUIC (quic-go), for tests.
//
// Usage: quic-go server ADDRESS BYTES, or quic-go client ADDRESS
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

const protocol = "bytes"

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, err
}

func serve(address string, bytes int) error {
	own, err := certificate()
	if err != nil {
		return err
	}
	config := tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{protocol}}
	listener, err := quic.ListenAddr(address, &config, nil)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			stream, err := connection.OpenUniStream()
			if err == nil {
				_, err = stream.Write(make([]byte, bytes))
			}
			if err != nil {
				log.Print(err)
				return
			}
			stream.Close()
		}()
	}
}

func load(address string) error {
	config := tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
	begun := time.Now()
	connection, err := quic.DialAddr(context.Background(), address, &config, nil)
	if err != nil {
		return err
	}
	connected := time.Now()
	stream, err := connection.AcceptUniStream(context.Background())
	if err != nil {
		return err
	}
	received, err := io.Copy(io.Discard, stream)
	if err != nil {
		return err
	}
	fmt.Printf("connected in %.1f ms\n", float64(connected.Sub(begun).Microseconds())/1e3)
	fmt.Printf("%d bytes in %.3f s\n", received, time.Since(connected).Seconds())
	return connection.CloseWithError(0, "")
}

func main() {
	var err error
	if os.Args[1] == "server" {
		var bytes int
		if bytes, err = strconv.Atoi(os.Args[3]); err == nil {
			err = serve(os.Args[2], bytes)
		}
	} else {
		err = load(os.Args[2])
	}
	if err != nil {
		log.Fatal(err)
	}
}
