/* Wine 8 has no bcryptprimitives.dll, of which Rust's standard library wants one function. This stands in its place in the
   tests; it is never shipped. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG bytes);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T bytes)
{
    return SystemFunction036(buffer, (ULONG)bytes);
}
