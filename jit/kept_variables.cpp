// Nothing of the shared object is destroyed when the process ends. Nobody can tell a runtime then to stop: that of a host whose
// variables hold it is as good as any other until they go, and one of which a handle was lost stays for good. Its threads compile on
// while the exit runs, perhaps are just loading this object; and LLVM makes most of its variables when they are first
// used, so that no order of destruction has all of them go after the last compilation. The object is never unloaded, so
// the system takes its memory back with the process.
//
// So what registers a destructor here, C++ variables and `atexit` alike, finds this function before the C library's: it is hidden,
// and linked in first. In a file of its own, as a compiler that sees it would have its own calls meet the definition.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*destroy)(void*), void* object, void* library);

int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
