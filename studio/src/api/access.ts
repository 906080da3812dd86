// Who one is, signing in and out, and the certificates and API keys of all who may call the server.
import { jsonOf, send, sendForJson } from "./http";

export type Clearance = "ValidUser" | "Operator" | "ClusterAdmin";

export type Permission = "Read" | "ReadWrite" | "Admin";

/** By the names of databases. */
export type Permissions = Readonly<Record<string, Permission>>;

/** What one may do: everywhere, and beyond that with single databases. */
export type Rights = { clearance: Clearance; permissions: Permissions };

type RightsOnWire = { SecurityClearance: Clearance | "ClusterNode"; Permissions: Permissions };

/** The certificate of the server itself has a word of its own for it. */
const rightsOf = ({ SecurityClearance, Permissions }: RightsOnWire): Rights => ({
  clearance: SecurityClearance === "ClusterNode" ? "ClusterAdmin" : SecurityClearance,
  permissions: Permissions,
});

const onWire = ({ clearance, permissions }: Rights): RightsOnWire => ({
  SecurityClearance: clearance,
  Permissions: permissions,
});

export type Caller = Rights & {
  name: string;
  /** `undefined`: an API key. */
  thumbprint: string | undefined;
};

/** GET `/certificates/whoami`; `undefined`: the server knows neither a certificate nor a key of the caller. */
export async function whoami(signal?: AbortSignal): Promise<Caller | undefined> {
  const response = await send("/certificates/whoami", { signal });
  if (response.status === 204) return undefined;
  const answer = await jsonOf<RightsOnWire & { Name: string; Thumbprint: string | null }>(response);
  return { name: answer.Name, thumbprint: answer.Thumbprint ?? undefined, ...rightsOf(answer) };
}

/** POST `/studio/sign-in`: later requests of this browser have the rights of the key. */
export async function signIn(key: string): Promise<void> {
  await send("/studio/sign-in", { method: "POST", headers: { Authorization: `Bearer ${key}` } });
}

/** POST `/studio/sign-out` */
export async function signOut(): Promise<void> {
  await send("/studio/sign-out", { method: "POST" });
}

export type ApiKey = Rights & {
  name: string;
  created: string;
  expires: string | null;
  lastUsed: string | null;
};

type ApiKeyOnWire = RightsOnWire & { Name: string; Created: string; Expires: string | null; LastUsed: string | null };

/** Dates of certificates and keys have no `Z`, and mean UTC. */
const utc = (date: string) => `${date}Z`;

const apiKeyOf = (key: ApiKeyOnWire): ApiKey => ({
  name: key.Name,
  created: utc(key.Created),
  expires: key.Expires && utc(key.Expires),
  lastUsed: key.LastUsed && utc(key.LastUsed),
  ...rightsOf(key),
});

/** GET `/admin/api-keys` */
export async function apiKeys(signal?: AbortSignal): Promise<ApiKey[]> {
  const { Results } = await sendForJson<{ Results: ApiKeyOnWire[] }>("/admin/api-keys", { signal });
  return Results.map(apiKeyOf);
}

/** What is said of a new key, or of one that is changed: all of it is replaced. `expires`: a date of the server, or never. */
export type KeyDefinition = Rights & { name: string; expires: string | null };

const keyOnWire = ({ name, expires, ...rights }: KeyDefinition) => ({ Name: name, ...onWire(rights), Expires: expires });

/** POST `/admin/api-keys`: the text of the key, which no later answer has. */
export async function createKey(definition: KeyDefinition): Promise<string> {
  const answer = await sendForJson<{ Key: string }>("/admin/api-keys", { method: "POST", body: keyOnWire(definition) });
  return answer.Key;
}

/** POST `/admin/api-keys/edit` */
export async function editKey(definition: KeyDefinition): Promise<void> {
  await send("/admin/api-keys/edit", { method: "POST", body: keyOnWire(definition) });
}

/** DELETE `/admin/api-keys` */
export async function deleteKey(name: string): Promise<void> {
  await send("/admin/api-keys", { method: "DELETE", query: { name } });
}

export type Certificate = Rights & {
  name: string;
  thumbprint: string;
  notBefore: string;
  notAfter: string;
  /** Of the server: it is in its settings, and changed there. */
  isOwn: boolean;
};

type CertificateOnWire = RightsOnWire & { Name: string; Thumbprint: string; NotBefore: string; NotAfter: string };

export type Certificates = {
  registered: Certificate[];
  /** Thumbprints of cluster admins by the settings. */
  wellKnown: string[];
};

/** GET `/admin/certificates` */
export async function certificates(signal?: AbortSignal): Promise<Certificates> {
  type Answer = { Results: CertificateOnWire[]; LoadedServerCert: string | null; WellKnownAdminCerts: string[] };
  const answer = await sendForJson<Answer>("/admin/certificates", { query: { metadataOnly: true }, signal });
  const registered = answer.Results.map((certificate) => ({
    name: certificate.Name,
    thumbprint: certificate.Thumbprint,
    notBefore: utc(certificate.NotBefore),
    notAfter: utc(certificate.NotAfter),
    isOwn: certificate.Thumbprint === answer.LoadedServerCert,
    ...rightsOf(certificate),
  }));
  return { registered, wellKnown: answer.WellKnownAdminCerts };
}

/** PUT `/admin/certificates`; `content`: PEM, DER or PFX in base64; `password`: of a PFX. */
export async function registerCertificate(definition: Rights & { name: string; content: string; password: string }): Promise<void> {
  const { name, content, password, ...rights } = definition;
  const body = { Name: name, Certificate: content, Password: password, ...onWire(rights) };
  await send("/admin/certificates", { method: "PUT", body });
}

/** POST `/admin/certificates`: a ZIP with the certificate and its key, which no later answer has. `notAfter`: a date of the server. */
export async function generateCertificate(
  definition: Rights & { name: string; password: string; notAfter: string },
): Promise<Blob> {
  const { name, password, notAfter, ...rights } = definition;
  const body = { Name: name, Password: password, NotAfter: notAfter, ...onWire(rights) };
  return (await send("/admin/certificates", { method: "POST", body })).blob();
}

/** POST `/admin/certificates/edit` */
export async function editCertificate(definition: Rights & { name: string; thumbprint: string }): Promise<void> {
  const { name, thumbprint, ...rights } = definition;
  await send("/admin/certificates/edit", { method: "POST", body: { Name: name, Thumbprint: thumbprint, ...onWire(rights) } });
}

/** DELETE `/admin/certificates` */
export async function deleteCertificate(thumbprint: string): Promise<void> {
  await send("/admin/certificates", { method: "DELETE", query: { thumbprint } });
}
