/** Serves the built console: its files under names with hashes, its one HTML file at every address of a page, and the documentation as text. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fastifyHelmet, type FastifyHelmetOptions } from '@fastify/helmet';
import { fastifyStatic } from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** A condition on the address under which a route needs no token. It is in `config.isOpen` of the route. */
export type IsOpen = (url: string) => boolean;

/** Content security policy: only files of the console, no inline script or style, in no frame. */
const headers: FastifyHelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      fontSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  frameguard: { action: 'deny' },
  // A name such as localhost belongs to other programs too, which may speak plain HTTP.
  strictTransportSecurity: false,
};

/** Sets the security headers of every answer. Hooks that are added in `app.after` come behind it. */
export function securityHeaders(app: FastifyInstance): void {
  void app.register(fastifyHelmet, headers);
}

/** Addresses of programs. */
const programAddress = /^\/(?:api|v1|assets)(?:\/|$)|^\/(?:metrics|livez|readyz|favicon\.ico|opentelemetry\.proto\.[^/]*)(?:\/|$)/;
/** Addresses of pages whose last part is a name, which may look like that of a file. */
export const namedPages = [
  '/runs/:trace/:span',
  '/sessions/:id',
  '/issues/:id',
  '/queues/:name',
  '/datasets/:name',
  '/experiments/:id',
  '/agents/:agent',
];
const namedPage = new RegExp(`^(?:${namedPages.map((path) => path.replaceAll(/:\w+/g, '[^/]+')).join('|')})/?$`);
/** No page without a name in its address has a dot, however the dot is written. */
const looksLikeFile = /\.|%2e/i;

/** False for addresses of programs, and for those that look like a file and belong to no page. */
export function isPageAddress(url: string): boolean {
  const path = pathOf(url);
  return !programAddress.test(path) && (!looksLikeFile.test(path) || namedPage.test(path));
}

/** Pages need no token, and neither does the answer that there is no such page. */
const needsNoToken: IsOpen = (url) => !programAddress.test(pathOf(url));

function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? '';
}

/** True when the folder holds a built console. */
export function isBuilt(folder: string | undefined): folder is string {
  return folder !== undefined && existsSync(join(folder, 'index.html'));
}

/** `docs`: the folder of the documentation, which callers without a token may read. */
export function serveFiles(app: FastifyInstance, folder: string, docs: string | undefined): void {
  void app.register(fastifyStatic, {
    root: folder,
    serve: false,
    // Browsers show a text, and download Markdown.
    setHeaders: (reply, path) => void (path.endsWith('.md') && reply.header('content-type', 'text/plain; charset=utf-8')),
  });
  app.get<{ Params: { file: string } }>('/assets/:file', { config: { isOpen: (() => true) satisfies IsOpen } }, (request, reply) =>
    // The name has a hash of the content.
    reply.sendFile(`assets/${request.params.file}`, { maxAge: '365d', immutable: true }),
  );
  if (docs !== undefined)
    app.get<{ Params: { '*': string } }>('/docs/*', { config: { isOpen: (() => true) satisfies IsOpen } }, (request, reply) =>
      reply.sendFile(request.params['*'], docs),
    );
  for (const path of ['/', '/*'])
    app.get(path, { config: { isOpen: needsNoToken } }, (request, reply) => {
      // The browser asks again each time, and so learns the names of a new build.
      if (isPageAddress(request.url)) void reply.sendFile('index.html', { cacheControl: false });
      else reply.callNotFound();
    });
}
