/** A small issuer of OpenID Connect for tests: it signs in everybody at once, as the given person. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Issuer {
  /** The address for clients. The server itself speaks plain HTTP. */
  readonly name: string;
  /** The address at which the server has the content of an address of its name. */
  reach(url: string): string;
  /** Claims of the next ID tokens, beside those of the protocol. */
  claims: { readonly [name: string]: unknown };
  /** Changes the next ID token, as an attacker would. */
  forge: (claims: { readonly [name: string]: unknown }) => { readonly [name: string]: unknown };
  /** True when a key that is not the published one signs the next ID token. */
  isForeignKey: boolean;
  /** Requests for the description of the issuer. */
  descriptions: number;
  /** Parameters of each request to the authorization endpoint. */
  readonly asked: URLSearchParams[];
  stop(): Promise<void>;
}

export const client = { id: 'tracejury', secret: 'the secret of the client' } as const;

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirect: string;
}

export async function openIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
  const grants = new Map<string, Grant>();
  const asked: URLSearchParams[] = [];

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer.name);
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (pathname === '/.well-known/openid-configuration') {
      issuer.descriptions++;
      return json(200, {
        issuer: issuer.name,
        authorization_endpoint: `${issuer.name}/authorize`,
        token_endpoint: `${issuer.name}/token`,
        jwks_uri: `${issuer.name}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      });
    }
    if (pathname === '/keys') return json(200, { keys: [key] });
    if (pathname === '/authorize') {
      asked.push(searchParams);
      const code = randomBytes(8).toString('hex');
      const redirect = searchParams.get('redirect_uri') ?? '';
      grants.set(code, { nonce: searchParams.get('nonce') ?? '', challenge: searchParams.get('code_challenge') ?? '', redirect });
      const back = new URL(redirect);
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return void response.writeHead(302, { location: back.href }).end();
    }
    void request.toArray().then((chunks: Buffer[]) => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const grant = grants.get(form.get('code') ?? '');
      grants.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isClient = form.get('client_secret') === client.secret && form.get('client_id') === client.id;
      if (grant === undefined || challenge !== grant.challenge || form.get('redirect_uri') !== grant.redirect || !isClient)
        return json(400, { error: 'invalid_grant' });
      const now = Math.floor(Date.now() / 1_000);
      const claims = { iss: issuer.name, aud: client.id, sub: 'person-1', iat: now, exp: now + 60, nonce: grant.nonce, ...issuer.claims };
      return json(200, { access_token: 'unused', token_type: 'bearer', id_token: token(issuer.forge(claims)) });
    });
  });
  const token = (claims: object): string => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(claims)}`;
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), issuer.isForeignKey ? foreign : privateKey).toString('base64url')}`;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer: Issuer = {
    name: 'https://issuer.example',
    reach: (url) => url.replace(/^https:\/\/issuer\.example(?=\/)/, `http://127.0.0.1:${port}`),
    claims: {},
    isForeignKey: false,
    descriptions: 0,
    forge: (claims) => claims,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return issuer;
}
