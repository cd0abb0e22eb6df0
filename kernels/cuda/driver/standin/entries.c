//go:build cuda && cudafake

// The driver's entry points of the stand-in: each takes the driver's arguments and calls Go.
#include "_cgo_export.h"
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

static CUresult init(unsigned int flags) { return CUDA_SUCCESS; }
static CUresult count(int *n) { *n = skuaDevices(); return CUDA_SUCCESS; }
static CUresult version(int *v) { *v = 12040; return CUDA_SUCCESS; }
static CUresult deviceName(char *s, int n, CUdevice d) { strncpy(s, "Stand-in for a GPU", n); return CUDA_SUCCESS; }
static CUresult totalMem(size_t *n, CUdevice d) { *n = (size_t)1 << 30; return CUDA_SUCCESS; }
static CUresult attribute(int *v, CUdevice_attribute a, CUdevice d) {
  *v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 8 : a == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 1 : 0;
  return CUDA_SUCCESS;
}
static CUresult ctxCreate(CUcontext *c, unsigned int f, CUdevice d) { *c = (CUcontext)(size_t)1; return CUDA_SUCCESS; }
static CUresult ctxDestroy(CUcontext c) { return CUDA_SUCCESS; }
static CUresult ctxSet(CUcontext c) { return CUDA_SUCCESS; }
static CUresult moduleLoad(CUmodule *m, const void *image) {
  size_t id = skuaLoad((char *)image);
  *m = (CUmodule)id;
  return id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}
static CUresult moduleFunction(CUfunction *f, CUmodule m, const char *name) {
  size_t id = skuaFunction((size_t)m, (char *)name);
  *f = (CUfunction)id;
  return id ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
static CUresult memAlloc(CUdeviceptr *p, size_t n) { *p = skuaAlloc(n); return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; }
static CUresult memFree(CUdeviceptr p) { return skuaFree(p); }
static CUresult hostAlloc(void **p, size_t n, unsigned int f) { *p = malloc(n); return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; }
static CUresult hostFree(void *p) { free(p); return CUDA_SUCCESS; }
static CUresult toDevice(CUdeviceptr d, const void *s, size_t n, CUstream q) { return skuaToDevice(d, (void *)s, n); }
static CUresult toHost(void *d, CUdeviceptr s, size_t n, CUstream q) { return skuaToHost(d, s, n); }
static CUresult set8(CUdeviceptr d, unsigned char v, size_t n, CUstream q) { return skuaSet(d, v, n); }
static CUresult streamCreate(CUstream *q, unsigned int f) { *q = (CUstream)(size_t)1; return CUDA_SUCCESS; }
static CUresult streamDestroy(CUstream q) { return CUDA_SUCCESS; }
static CUresult eventCreate(CUevent *e, unsigned int f) { *e = (CUevent)(size_t)1; return CUDA_SUCCESS; }
static CUresult eventDestroy(CUevent e) { return CUDA_SUCCESS; }
static CUresult eventRecord(CUevent e, CUstream q) { return CUDA_SUCCESS; }
// An event is not ready when it is asked for the first time.
static CUresult eventQuery(CUevent e) { return skuaQuery(); }
static CUresult launch(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
                       unsigned int shared, CUstream q, void **params, void **extra) {
  if (gy != 1 || gz != 1 || by != 1 || bz != 1) return CUDA_ERROR_INVALID_VALUE;
  return skuaLaunch((size_t)f, gx, bx, shared, params);
}

void *skua_stand_in(const char *name) {
  static const struct {
    const char *name;
    void *entry;
  } entries[] = {
      {"cuInit", init}, {"cuDeviceGetCount", count}, {"cuDriverGetVersion", version}, {"cuDeviceGetName", deviceName},
      {"cuDeviceTotalMem_v2", totalMem}, {"cuDeviceGetAttribute", attribute}, {"cuCtxCreate_v2", ctxCreate}, {"cuCtxDestroy_v2", ctxDestroy},
      {"cuCtxSetCurrent", ctxSet}, {"cuModuleLoadData", moduleLoad}, {"cuModuleGetFunction", moduleFunction}, {"cuMemAlloc_v2", memAlloc},
      {"cuMemFree_v2", memFree}, {"cuMemHostAlloc", hostAlloc}, {"cuMemFreeHost", hostFree}, {"cuMemcpyHtoDAsync_v2", toDevice},
      {"cuMemcpyDtoHAsync_v2", toHost}, {"cuMemsetD8Async", set8}, {"cuStreamCreate", streamCreate}, {"cuStreamDestroy_v2", streamDestroy},
      {"cuEventCreate", eventCreate}, {"cuEventDestroy_v2", eventDestroy}, {"cuEventRecord", eventRecord}, {"cuEventQuery", eventQuery},
      {"cuLaunchKernel", launch},
  };
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
    if (!strcmp(entries[i].name, name)) return entries[i].entry;
  return NULL;
}
