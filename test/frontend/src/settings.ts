const { VITE_GATEWAY, VITE_PROVISION } = import.meta.env as Readonly<Record<string, string>>;

/** The address of the gateway's GraphQL door, from the environment of the build. */
export const gateway = `${VITE_GATEWAY ?? ''}/graphql`;
/** The WEB provision of the organization. It is no secret. */
export const provision = VITE_PROVISION ?? '';
