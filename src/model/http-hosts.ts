/**
 * Allowed host names and origins of a listener. A foreign page can point its own name at an address of this machine (DNS rebinding) and is
 * then same-origin. Where neither tokens nor TLS protect the listener, only the name in `Host` reveals that.
 */

export interface HostRuleOptions {
  /** The host of the listener's own address. */
  readonly listensOn: string;
  /** True when neither a token nor TLS is required. */
  readonly isOpen: boolean;
  /** Names from the configuration; `*.` matches all names below one. Empty: names that no foreign page can have. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** When true, only loopback names are allowed on loopback, as listeners need that return content to browsers. */
  readonly loopbackOnly?: boolean;
}

export interface HostRule {
  /** `host`: the value of `Host` or `:authority`. `undefined`, which no browser sends, is allowed. */
  allowsHost(host: string | undefined): boolean;
  /** `origin`: the value of `Origin` in a request to `host`. */
  allowsOrigin(origin: string | undefined, host: string | undefined): boolean;
  /** True when the configuration names the origin, so that its pages may read answers. */
  namesOrigin(origin: string | undefined): boolean;
}

/** Private domains, in which no stranger can register a name. */
const privateDomains: readonly string[] = ['internal', 'svc', 'svc.cluster.local'];

export function hostRule({ listensOn, isOpen, allowedHosts, allowedOrigins, loopbackOnly = false }: HostRuleOptions): HostRule {
  const hosts = allowedHosts.map((host) => host.toLowerCase());
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  const isStrict = loopbackOnly && isLoopbackName(listensOn);

  function allowsName(name: string): boolean {
    if (isLoopbackName(name) || hosts.some((host) => isUnder(name, host))) return true;
    if (hosts.length > 0) return isAddress(name);
    return (
      !isOpen || (!isStrict && (isAddress(name) || !name.includes('.') || privateDomains.some((domain) => name.endsWith(`.${domain}`))))
    );
  }

  return {
    allowsHost: (host) => host === undefined || host === '' || allowsName(nameOf(host)),
    allowsOrigin(origin, host) {
      if (origin === undefined || origins.has(origin.toLowerCase())) return true;
      const from = URL.parse(origin);
      return from !== null && host !== undefined && from.host !== '' && from.host === URL.parse(`${from.protocol}//${host}`)?.host;
    },
    namesOrigin: (origin) => origin !== undefined && origins.has(origin.toLowerCase()),
  };
}

function nameOf(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

function isUnder(name: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? name.endsWith(allowed.slice(1)) : name === allowed;
}

/** A page has an IP address as its host only if the server at that address sent it. */
function isAddress(name: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || (name.includes(':') && /^[0-9a-f:.]+$/.test(name));
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}
