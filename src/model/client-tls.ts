/** TLS settings of a client, as PEM texts. The configuration validates them. */
export type ClientTls = {
  /** The only trusted authorities. Defaults to those of Node. */
  readonly ca?: string;
  /** Client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
};
