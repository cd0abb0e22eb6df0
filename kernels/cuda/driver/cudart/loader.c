//go:build cuda

// Defines every driver entry point that the binding links against and forwards it to the driver library, which is opened on first use.
// Without a driver cuInit still succeeds and there are 0 devices: the binding ends the process where cuInit fails. A stand-in for the
// driver may be linked in instead.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define STR2(x) #x
#define STR(x) STR2(x)

#define F(name, params, args) static CUresult(*p_##name) params;
#include "cuda_functions.h"
#undef F

// Gives a stand-in's entry points, where one is linked in.
extern void *skua_stand_in(const char *name) __attribute__((weak));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char reason[512];
static int usable, missing;
static CUresult (*p_count)(int *);
static void *library;

static void *entry(const char *name) { return skua_stand_in ? skua_stand_in(name) : dlsym(library, name); }

static int open_library(void) {
  const char *names[] = {"libcuda.so.1", "libcuda.so"};
  for (int i = 0; i < 2 && !library; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library && i == 0) snprintf(reason, sizeof reason, "%s", dlerror());
  }
  return library != NULL;
}

static void load(void) {
  if (!skua_stand_in && !open_library()) return;
#define F(name, params, args)               \
  *(void **)&p_##name = entry(STR(name)); \
  if (!p_##name) missing++;
#include "cuda_functions.h"
#undef F
  CUresult (*init)(unsigned int);
  *(void **)&init = entry("cuInit");
  *(void **)&p_count = entry("cuDeviceGetCount");
  if (!init || !p_count) {
    snprintf(reason, sizeof reason, "the driver library has no cuInit");
    return;
  }
  CUresult r = init(0);
  if (r != CUDA_SUCCESS) {
    snprintf(reason, sizeof reason, "cuInit: error %d%s", (int)r, r == CUDA_ERROR_NO_DEVICE ? " (no device)" : "");
    return;
  }
  reason[0] = 0;
  usable = 1;
}

CUresult cuInit(unsigned int flags) {
  (void)flags;
  pthread_once(&once, load);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n) {
  pthread_once(&once, load);
  *n = 0;
  return usable ? p_count(n) : CUDA_SUCCESS;
}

const char *skua_cuda_reason(void) {
  pthread_once(&once, load);
  return reason;
}

int skua_cuda_missing(void) { return missing; }

// A missing entry is an error code, never a call through a null pointer.
#define F(name, params, args)                                                                     \
  CUresult name params {                                                                          \
    pthread_once(&once, load);                                                                    \
    return p_##name ? p_##name args : (usable ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_NO_DEVICE); \
  }
#include "cuda_functions.h"
#undef F
