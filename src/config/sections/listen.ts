import { type Section, settings } from './section.ts';

/** Fewest characters of a token without `listen.insecure`. */
export const tokenCharactersMin = 16;

const token = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'value', 'may'],
  properties: {
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      'x-words': 'Use letters, digits, dots, dashes and underscores, at most 64.',
      description: 'Name of the token, and of the tenant of its spans.',
    },
    value: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      pattern: '^[!-~]+$',
      'x-words': 'Use visible ASCII characters without blanks.',
      'x-secret': true,
      description: `Value of \`Authorization: Bearer …\` of clients. Best given as \`\${env:NAME}\`. At least ${tokenCharactersMin} characters, unless \`listen.insecure\` is true; \`openssl rand -base64 24\` makes one.`,
    },
    may: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: ['ingest', 'read', 'annotate', 'operate'] },
      description:
        'Permissions: `ingest` (send spans and logs), `read` (console, API, metrics), `annotate` (send verdicts of people), `operate` (retry dead letters).',
    },
    sees: {
      enum: ['all', 'own'],
      default: 'all',
      description:
        'Tenants that a token with `read` sees: `all`, or only its `own`. `own` allows the parts of the API about single tenants, and no metrics; such a token may not annotate or operate.',
    },
  },
} as const;

export const listen: Section = {
  key: 'listen',
  schema: settings('Addresses and access control of the listeners.', {
    otlp_http: {
      type: 'string',
      'x-address': true,
      'x-restart': true,
      default: '127.0.0.1:4318',
      description: 'Address for OTLP over HTTP: `POST /v1/traces` and `POST /v1/logs`.',
    },
    otlp_grpc: {
      type: 'string',
      'x-address': true,
      'x-restart': true,
      default: '127.0.0.1:4317',
      description: 'Address for OTLP over gRPC: `TraceService/Export` and `LogsService/Export`.',
    },
    console: {
      type: 'string',
      'x-address': true,
      'x-restart': true,
      default: '127.0.0.1:4380',
      description: 'Address of the console, the read API, `/metrics`, `/livez` and `/readyz`.',
    },
    console_url: {
      type: 'string',
      maxLength: 300,
      pattern: '^https?://[^/?#]+$',
      'x-words': 'Write scheme, name and port as browsers do, as in https://tracejury.example.org.',
      description:
        'Address of the console as browsers see it, for links in webhooks. When left out, `oidc.url`, or the address of the listener where it names one host.',
    },
    tls: {
      type: 'object',
      'x-restart': 'presence',
      description:
        'Certificate and key for all listeners, TLS 1.2 or newer. Paths are relative to the folder of the configuration; changed files apply to new connections. Switching TLS on or off needs a restart.',
      additionalProperties: false,
      required: ['cert_file', 'key_file'],
      properties: {
        cert_file: {
          type: 'string',
          minLength: 1,
          description: 'Path of the certificate in PEM with its chain.',
        },
        key_file: { type: 'string', minLength: 1, description: 'Path of the private key in PEM, without a passphrase.' },
        client_ca_file: {
          type: 'string',
          'x-restart': 'presence',
          minLength: 1,
          description:
            'Path of certificate authorities in PEM. The OTLP listeners then accept only clients with a certificate of one of them; the console requires none. Adding or removing the key needs a restart.',
        },
      },
    },
    insecure: {
      type: 'boolean',
      'x-restart': true,
      default: false,
      description:
        '`true` allows a listener beyond loopback without tokens and, for OTLP, without `listen.tls.client_ca_file`. It also allows tokens of fewer than 16 characters. TLS alone gives access to everybody.',
    },
    allowed_hosts: {
      type: 'array',
      'x-restart': true,
      maxItems: 100,
      uniqueItems: true,
      items: {
        type: 'string',
        maxLength: 253,
        pattern: '^(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$',
        'x-words': 'Write a name without port, as in tracejury.example.org, or *.example.org for all below it.',
      },
      description:
        'Allowed names in `Host` and `:authority`, beside `localhost` and addresses; other names get 403. Left out: listeners with tokens or TLS accept every name. The others accept names without a dot and those of `.internal`, `.svc` and `.svc.cluster.local`, which no stranger can register. A console on loopback accepts loopback only.',
    },
    allowed_origins: {
      type: 'array',
      'x-restart': true,
      maxItems: 100,
      uniqueItems: true,
      items: {
        type: 'string',
        maxLength: 300,
        pattern: '^https?://[^/]+$',
        'x-words': 'Write scheme, name and port as browsers do, as in https://app.example.org.',
      },
      description:
        'Origins of pages that may send spans and changes from a browser. Others get 403 when `Origin` names another host than `Host`. OTLP over HTTP answers CORS requests of these origins.',
    },
    tokens: {
      type: 'array',
      'x-restart': true,
      maxItems: 1000,
      default: [],
      items: token,
      description: 'Bearer tokens. Without a token that may `ingest` (or `read`), the OTLP listeners (or the console) need none.',
    },
    oidc: {
      type: 'object',
      'x-restart': true,
      additionalProperties: false,
      required: ['issuer', 'client_id', 'client_secret', 'allowed'],
      description: 'People sign in to the console with OpenID Connect. Nobody then reads without a sign-in or a token.',
      properties: {
        issuer: {
          type: 'string',
          maxLength: 500,
          pattern: '^https://[^/?#]+(/[^?#]*)?$',
          'x-words': 'Write an address that begins with https://.',
          description: 'Address of the issuer, whose `/.well-known/openid-configuration` the service reads.',
        },
        client_id: { type: 'string', minLength: 1, maxLength: 500, description: 'Id of the console at the issuer.' },
        client_secret: {
          type: 'string',
          minLength: 1,
          maxLength: 4096,
          'x-secret': true,
          description: 'Secret of the console at the issuer. Best given as `${env:NAME}`.',
        },
        url: {
          type: 'string',
          maxLength: 300,
          pattern: '^https?://[^/?#]+$',
          'x-words': 'Write scheme, name and port as browsers do, as in https://tracejury.example.org.',
          description:
            'Address of the console as browsers see it, behind a proxy. The issuer needs it with `/sign-in/callback` behind. Left out: the address of the request.',
        },
        allowed: {
          type: 'array',
          minItems: 1,
          maxItems: 1000,
          description: 'Who may sign in. Rights of several entries add up.',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['may'],
            properties: {
              email: {
                type: 'string',
                minLength: 3,
                maxLength: 320,
                pattern: '^(\\*|[^@*\\s]+)@[^@*\\s]+$',
                'x-words': 'Write an address, or *@example.org for all of a domain.',
                description: 'Address of a person, which the issuer must have verified, or `*@example.org` for all of a domain.',
              },
              subject: { type: 'string', minLength: 1, maxLength: 255, description: '`sub` of a person at the issuer.' },
              may: {
                type: 'array',
                minItems: 1,
                uniqueItems: true,
                items: { enum: ['read', 'annotate', 'operate'] },
                description: 'Permissions, as those of tokens.',
              },
            },
          },
        },
      },
    },
  }),
};
