import { rights } from '../../web/api/route.ts';
import { address, flag, list, object, oneOf, restarts, settings, text } from '../field.ts';

/** Fewest characters of a token without `listen.insecure`. */
export const tokenCharactersMin = 16;

const token = object(
  { required: ['name', 'value', 'may'] },
  {
    name: text(
      {
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
        'x-words': 'Use letters, digits, dots, dashes and underscores, at most 64.',
      },
      'Name of the token, and of the tenant of its spans.',
    ),
    value: text(
      {
        minLength: 1,
        maxLength: 4096,
        pattern: '^[!-~]+$',
        'x-words': 'Use visible ASCII characters without blanks.',
        'x-secret': true,
      },
      `Value of \`Authorization: Bearer …\` of clients. Best given as \`\${env:NAME}\`. At least ${tokenCharactersMin} characters, unless \`listen.insecure\` is true; \`openssl rand -base64 24\` makes one.`,
    ),
    may: list(
      { minItems: 1, uniqueItems: true },
      oneOf(['ingest', ...rights], undefined),
      'Permissions: `ingest` (send spans and logs), `read` (console, API, metrics), `annotate` (send verdicts of people), `operate` (retry dead letters).',
    ),
    sees: oneOf(
      ['all', 'own'],
      'all',
      'Tenants that a token with `read` sees: `all`, or only its `own`. `own` allows the parts of the API about single tenants, and no metrics; such a token may not annotate or operate.',
    ),
  },
);

const oidc = object(
  { required: ['issuer', 'client_id', 'client_secret', 'allowed'] },
  {
    issuer: text(
      { maxLength: 500, pattern: '^https://[^/?#]+(/[^?#]*)?$', 'x-words': 'Write an address that begins with https://.' },
      'Address of the issuer, whose `/.well-known/openid-configuration` the service reads.',
    ),
    client_id: text({ minLength: 1, maxLength: 500 }, 'Id of the console at the issuer.'),
    client_secret: text(
      { minLength: 1, maxLength: 4096, 'x-secret': true },
      'Secret of the console at the issuer. Best given as `${env:NAME}`.',
    ),
    url: consoleAddress(
      'Address of the console as browsers see it, behind a proxy. The issuer needs it with `/sign-in/callback` behind. Left out: the address of the request.',
    ),
    allowed: list(
      { minItems: 1, maxItems: 1000 },
      object(
        { required: ['may'] },
        {
          email: text(
            {
              minLength: 3,
              maxLength: 320,
              pattern: '^(\\*|[^@*\\s]+)@[^@*\\s]+$',
              'x-words': 'Write an address, or *@example.org for all of a domain.',
            },
            'Address of a person, which the issuer must have verified, or `*@example.org` for all of a domain.',
          ),
          subject: text({ minLength: 1, maxLength: 255 }, '`sub` of a person at the issuer.'),
          may: list({ minItems: 1, uniqueItems: true }, oneOf(rights, undefined), 'Permissions, as those of tokens.'),
        },
      ),
      'People who may sign in. Rights of several entries add up.',
    ),
  },
  'People sign in to the console with OpenID Connect. Reading then requires a sign-in or a token.',
);

export const listen = settings('Addresses and access control of the listeners.', {
  otlp_http: restarts(address('127.0.0.1:4318', 'Address for OTLP over HTTP: `POST /v1/traces` and `POST /v1/logs`.')),
  otlp_grpc: restarts(address('127.0.0.1:4317', 'Address for OTLP over gRPC: `TraceService/Export` and `LogsService/Export`.')),
  console: restarts(address('127.0.0.1:4380', 'Address of the console, the read API, `/metrics`, `/livez` and `/readyz`.')),
  console_url: consoleAddress(
    'Address of the console as browsers see it, for links in webhooks. When left out, `oidc.url`, or the address of the listener where it names one host.',
  ),
  tls: object(
    { 'x-restart': 'presence', required: ['cert_file', 'key_file'] },
    {
      cert_file: text({ minLength: 1 }, 'Path of the certificate in PEM with its chain.'),
      key_file: text({ minLength: 1 }, 'Path of the private key in PEM, without a passphrase.'),
      client_ca_file: text(
        { 'x-restart': 'presence', minLength: 1 },
        'Path of certificate authorities in PEM. The OTLP listeners then accept only clients with a certificate of one of them; the console requires none. Adding or removing the key needs a restart.',
      ),
    },
    'Certificate and key for all listeners, TLS 1.2 or newer. Paths are relative to the folder of the configuration; changed files apply to new connections. Switching TLS on or off needs a restart.',
  ),
  insecure: restarts(
    flag(
      false,
      '`true` allows a listener beyond loopback without tokens and, for OTLP, without `listen.tls.client_ca_file`. It also allows tokens of fewer than 16 characters. TLS without tokens gives access to everyone.',
    ),
  ),
  allowed_hosts: list(
    { 'x-restart': true, maxItems: 100, uniqueItems: true },
    text({
      maxLength: 253,
      pattern: '^(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$',
      'x-words': 'Write a name without port, as in tracejury.example.org, or *.example.org for all below it.',
    }),
    'Allowed names in `Host` and `:authority`, beside `localhost` and addresses; other names get 403. Left out: listeners with tokens or TLS accept every name. The others accept names without a dot and those of `.internal`, `.svc` and `.svc.cluster.local`, which no stranger can register. A console on loopback accepts loopback only.',
  ),
  allowed_origins: list(
    { 'x-restart': true, maxItems: 100, uniqueItems: true },
    text({
      maxLength: 300,
      pattern: '^https?://[^/]+$',
      'x-words': 'Write scheme, name and port as browsers do, as in https://app.example.org.',
    }),
    'Origins of pages that may send spans and changes from a browser. Others get 403 when `Origin` and `Host` name different hosts. OTLP over HTTP answers CORS requests of these origins.',
  ),
  tokens: list(
    { 'x-restart': true, maxItems: 1000, default: [] },
    token,
    'Bearer tokens. Without a token that may `ingest` (or `read`), the OTLP listeners (or the console) need none.',
  ),
  oidc: restarts(oidc),
});

function consoleAddress(description: string) {
  return text(
    {
      maxLength: 300,
      pattern: '^https?://[^/?#]+$',
      'x-words': 'Write scheme, name and port as browsers do, as in https://tracejury.example.org.',
    },
    description,
  );
}
