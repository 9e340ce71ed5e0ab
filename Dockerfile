# The image contains only the static binary, the licences of its modules, the certificate
# authorities of the Go image, and the data directory. Both base images can be replaced, see
# docs/run.md. With MODULE=cluster the binary is plantstore-cluster, see docs/several-machines.md.
ARG GO_IMAGE=docker.io/library/golang:1.26
ARG BASE_IMAGE=scratch

# The build runs on the machine's own platform, and compiles for that of the image.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
ARG TARGETARCH
ARG MODULE=.
ARG GOPROXY
ARG GOFLAGS
ENV CGO_ENABLED=0
WORKDIR /out/data
WORKDIR /src
COPY go.mod go.sum ./
COPY cluster/go.mod cluster/go.sum ./cluster/
RUN cd $MODULE && go mod download
COPY . .
RUN GOARCH=$TARGETARCH go build -C $MODULE -tags "$(cat .ci/tags)" -trimpath -ldflags "-s -w" -o /out/plantstore .
RUN .ci/licences $MODULE >/out/LICENCES

FROM ${BASE_IMAGE}
COPY --from=build /out/plantstore /out/LICENCES /
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
# A new volume gets the owner of this directory.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV PORT=8080 ADMIN_ADDR=:8081 STORAGE_URL=bbolt:/data/plants.db
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/plantstore", "health"]
ENTRYPOINT ["/plantstore"]
CMD ["serve"]
