#!/bin/sh
# Pins the images by digest, in place: tag@sha256:... in docker/Dockerfile (ARG NODE_IMAGE), docker-compose.yml and docker/compose.many.yml.
# Needs docker with buildx, and the registries. Run it again after a tag has changed. Nothing is written unless every digest was found.
set -eu
cd "$(dirname "$0")/.."
composed="docker-compose.yml docker/compose.many.yml"

images=$({
  sed -n 's/^ARG NODE_IMAGE=\([^@ ]*\).*/\1/p' docker/Dockerfile
  # tracejury itself is built from the Dockerfile.
  sed -n 's/^ *image: *\([^@ ]*\).*/\1/p' $composed | grep -v '^tracejury:' | sort -u
})

edits=$(mktemp)
pinned=$(mktemp)
trap 'rm -f "$edits" "$pinned"' EXIT
for image in $images; do
  digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
  if ! echo "$digest" | grep -Eqx 'sha256:[0-9a-f]{64}'; then
    echo "pin-images: $image has no digest: $digest" >&2
    exit 1
  fi
  # Not echo: some shells read \1 in its text.
  printf '%s\n' "s|\([= ]\)$image\(@sha256:[0-9a-f]*\)\{0,1\}\$|\1$image@$digest|" >> "$edits"
done

for file in docker/Dockerfile $composed; do
  sed -f "$edits" "$file" > "$pinned"
  cat "$pinned" > "$file"
done
grep -Hn '@sha256:' docker/Dockerfile $composed
