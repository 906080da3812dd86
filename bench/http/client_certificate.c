/* A client certificate for wrk, which has no option for one. Preloaded (LD_PRELOAD), this gives OpenSSL the certificate of the PEM file
   BENCH_CERTIFICATE, and forgets the TLS session between two connections, so that each handshake is a full one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define SSL_FILETYPE_PEM 1

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "%s is not in the libraries of this program\n", name);
        exit(1);
    }
    return found;
}

void *SSL_CTX_new(const void *method) {
    void *(*make)(const void *) = next("SSL_CTX_new");
    int (*use_chain)(void *, const char *) = next("SSL_CTX_use_certificate_chain_file");
    int (*use_key)(void *, const char *, int) = next("SSL_CTX_use_PrivateKey_file");
    const char *file = getenv("BENCH_CERTIFICATE");
    void *context = make(method);
    if (file == NULL || context == NULL || use_chain(context, file) != 1 || use_key(context, file, SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "BENCH_CERTIFICATE names no PEM file with a certificate and its key\n");
        exit(1);
    }
    return context;
}

/* wrk calls this between two connections. */
int SSL_clear(void *connection) {
    int (*clear)(void *) = next("SSL_clear");
    int (*set_session)(void *, void *) = next("SSL_set_session");
    int is_clear = clear(connection);
    set_session(connection, NULL);
    return is_clear;
}
