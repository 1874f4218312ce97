/**
 * Under which names a listener is asked, and from pages of which origin. A page of a stranger can have its own name lead to an address of this machine (DNS
 * rebinding) and then counts as the same origin: where neither tokens nor TLS tell callers apart, the name in `Host` is what gives it away.
 */

export interface HostRuleOptions {
  /** The host of the listener's own address. */
  readonly listensOn: string;
  /** Neither a token nor TLS tells callers apart. */
  readonly isOpen: boolean;
  /** Names of the configuration, `*.` in front for all names below one. Empty: those that no stranger can have. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** On loopback, loopback names alone: for what answers a browser with more than an acknowledgement. */
  readonly loopbackOnly?: boolean;
}

export interface HostRule {
  /** `host` as `Host` or `:authority` has it; undefined, which no browser sends, is fine. */
  allowsHost(host: string | undefined): boolean;
  /** `Origin` of a request that was sent to `host`. */
  allowsOrigin(origin: string | undefined, host: string | undefined): boolean;
  /** True: the configuration names the origin, so pages from there may read answers. */
  namesOrigin(origin: string | undefined): boolean;
}

/** Domains that are not in the public name system, so that nobody can have a name there lead elsewhere. */
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

/** A page can only come from an address if its own server has it. */
function isAddress(name: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || (name.includes(':') && /^[0-9a-f:.]+$/.test(name));
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}
