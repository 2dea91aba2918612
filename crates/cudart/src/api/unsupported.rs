//! What libcudart exports and we do not support. Each function names itself once on stderr and returns
//! `cudaErrorNotSupported`, so that an application never dies of an undefined symbol.
//!
//! Parameters need no mention: in the calling convention of x86-64 they are the caller's business.

use super::entry::entry_points;
use crate::code::Code;
use crate::report::say_unsupported;

macro_rules! unsupported {
    ($($name:ident)*) => {
        entry_points! {
            $([$name] () {
                say_unsupported(stringify!($name));
                Err(Code::NOT_SUPPORTED)
            })*
        }
    };
}

unsupported! {
    __cudaGetProcAddress cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties
    cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaDeviceFlushGPUDirectRDMAWrites
    cudaDeviceGetGraphMemAttribute cudaDeviceGetHostAtomicCapabilities cudaDeviceGetNvSciSyncAttributes
    cudaDeviceGetP2PAtomicCapabilities cudaDeviceGraphMemTrim cudaDeviceRegisterAsyncNotification
    cudaDeviceSetGraphMemAttribute cudaDeviceUnregisterAsyncNotification cudaEGLStreamConsumerAcquireFrame
    cudaEGLStreamConsumerConnect cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
    cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect
    cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync
    cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaFreeMipmappedArray
    cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject
    cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync
    cudaGLUnregisterBufferObject cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion
    cudaGetDriverEntryPointByVersion_ptsz cudaGetDriverEntryPoint_ptsz cudaGetExportTable cudaGetMipmappedArrayLevel
    cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode cudaGraphAddMemAllocNode
    cudaGraphAddMemFreeNode cudaGraphAddNode cudaGraphAddNode_v2 cudaGraphChildGraphNodeGetGraph
    cudaGraphConditionalHandleCreate cudaGraphDebugDotPrint cudaGraphEventRecordNodeGetEvent
    cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
    cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
    cudaGraphExecExternalSemaphoresSignalNodeSetParams cudaGraphExecExternalSemaphoresWaitNodeSetParams
    cudaGraphExecGetFlags cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol
    cudaGraphExecNodeSetParams cudaGraphExternalSemaphoresSignalNodeGetParams
    cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
    cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphGetEdges_v2 cudaGraphHostNodeGetParams
    cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz cudaGraphKernelNodeCopyAttributes
    cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetAttribute
    cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams cudaGraphMemcpyNodeGetParams
    cudaGraphMemcpyNodeSetParamsFromSymbol cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphMemsetNodeGetParams
    cudaGraphNodeFindInClone cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependentNodes
    cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeSetParams cudaGraphReleaseUserObject cudaGraphRemoveDependencies
    cudaGraphRemoveDependencies_v2 cudaGraphRetainUserObject cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer
    cudaGraphicsGLRegisterImage cudaGraphicsMapResources cudaGraphicsResourceGetMappedEglFrame
    cudaGraphicsResourceGetMappedMipmappedArray cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
    cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
    cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaImportExternalMemory
    cudaImportExternalSemaphore cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle cudaIpcOpenEventHandle
    cudaIpcOpenMemHandle cudaLaunchCooperativeKernelMultiDevice cudaLibraryEnumerateKernels cudaLibraryGetGlobal
    cudaLibraryGetKernel cudaLibraryGetKernelCount cudaLibraryGetManaged cudaLibraryGetUnifiedFunction
    cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryUnload cudaLogsCurrent cudaLogsDumpToFile
    cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback cudaMallocMipmappedArray
    cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync
    cudaMemDiscardBatchAsync_ptsz cudaMemPoolExportPointer cudaMemPoolExportToShareableHandle
    cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer cudaMemPrefetchBatchAsync
    cudaMemPrefetchBatchAsync_ptsz cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaMemcpy3DBatchAsync
    cudaMemcpy3DBatchAsync_ptsz cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds cudaMemcpyBatchAsync
    cudaMemcpyBatchAsync_ptsz cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties
    cudaSetDoubleForDevice cudaSetDoubleForHost cudaSignalExternalSemaphoresAsync
    cudaSignalExternalSemaphoresAsync_ptsz cudaSignalExternalSemaphoresAsync_v2
    cudaSignalExternalSemaphoresAsync_v2_ptsz cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz
    cudaStreamGetAttribute cudaStreamGetAttribute_ptsz cudaStreamUpdateCaptureDependencies
    cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2
    cudaStreamUpdateCaptureDependencies_v2_ptsz cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain
    cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_ptsz
    cudaWaitExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2_ptsz
}
