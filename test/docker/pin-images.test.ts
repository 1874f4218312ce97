/** The script that pins images by digest, over copies of the container files and with a `docker` that answers from a table. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const digests = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-pin-'));
  cpSync('docker', join(folder, 'docker'), { recursive: true });
  cpSync('docker-compose.yml', join(folder, 'docker-compose.yml'));
  mkdirSync(join(folder, 'bin'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** `answer`: a shell command with the image as `$4`. */
function pin(answer: string): void {
  writeFileSync(join(folder, 'bin', 'docker'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
  execFileSync('sh', [join(folder, 'docker', 'pin-images.sh')], { env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` }, stdio: 'pipe' });
}

function files(): readonly [dockerfile: string, compose: string, many: string] {
  return [readFileSync(join(folder, 'docker', 'Dockerfile'), 'utf8'), readFileSync(join(folder, 'docker-compose.yml'), 'utf8'), readFileSync(join(folder, 'docker', 'compose.many.yml'), 'utf8')];
}

function imagesOf(compose: string): readonly string[] {
  return [...compose.matchAll(/^ *image: (.*)$/gm)].map(([, image = '']) => image.replace(/:.*@/, ' @'));
}

test('pin-images: every foreign image keeps its tag and gets a digest; a second run renews it; all else stays', () => {
  const before = files();
  for (const digest of digests) {
    pin(`echo ${digest}`);
    const [dockerfile, compose, many] = files();
    expect(dockerfile).toMatch(new RegExp(`^ARG NODE_IMAGE=node:[\\d.]+-slim@${digest}$`, 'm'));
    expect(imagesOf(compose)).toEqual([`otel/opentelemetry-collector @${digest}`, 'tracejury:0.1.0', `arizephoenix/phoenix @${digest}`]);
    expect(imagesOf(many)).toEqual([`otel/opentelemetry-collector @${digest}`, 'tracejury:0.1.0', 'tracejury:0.1.0', `apache/kafka @${digest}`, `postgres @${digest}`, `arizephoenix/phoenix @${digest}`]);
    expect([dockerfile, compose, many].map((text) => text.replaceAll(`@${digest}`, ''))).toEqual(before);
  }
});

test('pin-images: nothing is written unless every image has a digest', () => {
  const before = files();
  expect(() => pin(`case "$4" in *phoenix*) echo unauthorized;; *) echo ${digests[0] ?? ''};; esac`)).toThrow(/phoenix.* has no digest: unauthorized/);
  expect(() => pin('exit 1')).toThrow();
  expect(files()).toEqual(before);
});
