/** Protocol version between front ends and remote kernels. Both sides need the same. */
export const remoteVersion = 16;
