/** `tls` of the endpoints that the service connects to. */

/** `description`: the purpose; the other texts are the same everywhere. */
export const clientTlsSchema = (description: string) =>
  ({
    type: 'object',
    description: `${description} The files are named relative to the folder of the configuration; what they say holds for new connections when they change.`,
    additionalProperties: false,
    properties: {
      ca_file: {
        type: 'string',
        minLength: 1,
        description: 'Path of the certificate authorities to trust, in PEM; these alone are trusted then.',
      },
      cert_file: {
        type: 'string',
        minLength: 1,
        description: 'Path of the client certificate in PEM, followed by those that lead to its authority, for a server that asks for one.',
      },
      key_file: { type: 'string', minLength: 1, description: 'Path of its private key in PEM, without a passphrase.' },
    },
  }) as const;
