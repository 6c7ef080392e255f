/* Memory shared with OpenGL, EGL and VDPAU: the answers of a card without a display, as an H200's driver 580 gives them
 * (tests/facts/graphics.c). Clients look these functions up, and take a driver that lacks one for none. */
#include "driver/cu.h"

/* Whatever the arguments are: without a display nothing can be shared. */
static cu_result answer(cu_result without, cu_result with)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    return r == CU_INVALID_CONTEXT ? without : r ? r : with;
}

#define NO_DISPLAY(symbol, without, with) \
    CU_API(symbol)(void) { return answer(without, with); }

NO_DISPLAY(cuGLInit, CU_INVALID_CONTEXT, CU_OPERATING_SYSTEM)
NO_DISPLAY(cuGLCtxCreate, CU_OPERATING_SYSTEM, CU_OPERATING_SYSTEM)
NO_DISPLAY(cuGLCtxCreate_v2, CU_OPERATING_SYSTEM, CU_OPERATING_SYSTEM)
NO_DISPLAY(cuGLGetDevices, CU_OPERATING_SYSTEM, CU_OPERATING_SYSTEM)
NO_DISPLAY(cuGLGetDevices_v2, CU_OPERATING_SYSTEM, CU_OPERATING_SYSTEM)
NO_DISPLAY(cuGLRegisterBufferObject, CU_INVALID_CONTEXT, CU_OPERATING_SYSTEM)
NO_DISPLAY(cuGLMapBufferObject, CU_INVALID_CONTEXT, CU_INVALID_CONTEXT)
NO_DISPLAY(cuGLMapBufferObjectAsync, CU_INVALID_CONTEXT, CU_INVALID_CONTEXT)
NO_DISPLAY(cuGLMapBufferObject_v2, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGLMapBufferObjectAsync_v2, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGLSetBufferObjectMapFlags, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGLUnmapBufferObject, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGLUnmapBufferObjectAsync, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGLUnregisterBufferObject, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGraphicsGLRegisterBuffer, CU_INVALID_CONTEXT, CU_INVALID_VALUE)
NO_DISPLAY(cuGraphicsGLRegisterImage, CU_INVALID_CONTEXT, CU_OPERATING_SYSTEM)

NO_DISPLAY(cuGraphicsEGLRegisterImage, CU_INVALID_CONTEXT, CU_UNKNOWN)
NO_DISPLAY(cuGraphicsResourceGetMappedEglFrame, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamConsumerConnect, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamConsumerConnectWithFlags, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamConsumerDisconnect, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamConsumerAcquireFrame, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamConsumerReleaseFrame, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamProducerConnect, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamProducerDisconnect, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamProducerPresentFrame, CU_INVALID_HANDLE, CU_INVALID_HANDLE)
NO_DISPLAY(cuEGLStreamProducerReturnFrame, CU_INVALID_HANDLE, CU_INVALID_HANDLE)

NO_DISPLAY(cuVDPAUGetDevice, CU_INVALID_VALUE, CU_INVALID_VALUE)
NO_DISPLAY(cuVDPAUCtxCreate, CU_INVALID_VALUE, CU_INVALID_VALUE)
NO_DISPLAY(cuVDPAUCtxCreate_v2, CU_INVALID_VALUE, CU_INVALID_VALUE)
NO_DISPLAY(cuGraphicsVDPAURegisterVideoSurface, CU_INVALID_CONTEXT, CU_INVALID_CONTEXT)
NO_DISPLAY(cuGraphicsVDPAURegisterOutputSurface, CU_INVALID_CONTEXT, CU_INVALID_CONTEXT)
