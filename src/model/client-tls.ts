/** How a backend or an endpoint is trusted, and how it knows us: PEM texts, checked where they were read. */
export type ClientTls = {
  /** Authorities; these alone are trusted then. Undefined: those of Node. */
  readonly ca?: string;
  /** Shown to whoever asks for it, with its key. */
  readonly cert?: string;
  readonly key?: string;
};
