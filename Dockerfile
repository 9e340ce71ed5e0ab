# The image holds the static binary and the folder of the data, nothing else.
# Both base images can be substituted: docs/operations.md says how.
ARG GO_IMAGE=golang:1.26
ARG BASE_IMAGE=scratch

FROM ${GO_IMAGE} AS build
ARG GOPROXY
ARG GOFLAGS
ENV CGO_ENABLED=0
WORKDIR /out/data
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -tags "$(cat .ci/tags)" -trimpath -ldflags "-s -w" -o /out/plantstore .

FROM ${BASE_IMAGE}
COPY --from=build /out/plantstore /plantstore
# A new volume takes its owner from this folder.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV ADDR=:8080 ADMIN_ADDR=:8081 STORAGE_URL=bbolt:/data/plants.db
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/plantstore", "health"]
ENTRYPOINT ["/plantstore"]
CMD ["serve"]
